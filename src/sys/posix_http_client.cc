#include "sys/posix_http_client.h"

#include <curl/curl.h>
#include <curl/easy.h>
#include <curl/multi.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/posix_http_exchange.h"

namespace outlast::sys {
namespace {

// Of a slot: enough for a store, a token service and a metadata service in turn.
constexpr long kKeptConnectionsMax = 4;
constexpr std::size_t kIdleSlotsMax = 64;

MonoTime steady_now() {
  return MonoTime(std::chrono::steady_clock::now().time_since_epoch());
}

// libcurl itself does not read what the curl program reads.
std::string ca_file_from_environment() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

class PosixHttpClient : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request, const CallContext& ctx) override;

 private:
  Result<std::unique_ptr<CurlSlot>> take_slot(const std::string& origin);
  void give_back(std::unique_ptr<CurlSlot> slot);
  static Result<HttpResponse> exchange_on(CurlSlot& slot, const HttpRequest& request,
                                          const CallContext& ctx);

  Mutex mutex_;
  std::vector<std::unique_ptr<CurlSlot>> idle_ OUTLAST_GUARDED_BY(mutex_);  // last used at the back
};

// Runs libcurl in this thread until the exchange is done, or the context, or patience, ends.
class Drive {
 public:
  Drive(CurlSlot& slot, CurlExchange& exchange, const HttpRequest& request, const CallContext& ctx)
      : slot_(slot), exchange_(exchange), request_(request), ctx_(ctx) {}

  Result<CURLcode> run() {
    for (;;) {
      int running = 0;
      const CURLMcode performed = curl_multi_perform(slot_.multi.get(), &running);
      if (performed != CURLM_OK) return broken(performed);
      if (const auto code = finished()) return *code;
      if (ctx_.stop.stop_requested()) return ended(ErrorCode::kCancelled, "stopped");
      const MonoTime now = steady_now();
      if (now >= ctx_.deadline) return ended(ErrorCode::kDeadlineExceeded, "the deadline passed");
      const MonoTime patience = patience_ends(now);
      if (now >= patience) {
        return ended(ErrorCode::kUnknownOutcome,
                     fmt::format("no byte moved for {} s, so it was given up",
                                 std::chrono::duration<double>(request_.stall_timeout).count()));
      }
      const CURLMcode polled = curl_multi_poll(
          slot_.multi.get(), nullptr, 0, until(std::min(ctx_.deadline, patience), now), nullptr);
      if (polled != CURLM_OK) return broken(polled);
    }
  }

 private:
  std::optional<CURLcode> finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(slot_.multi.get(), &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    return std::nullopt;
  }

  // While it connects, libcurl's own limit holds.
  MonoTime patience_ends(MonoTime now) {
    if (!exchange_.request_began()) return kNever;
    const std::uint64_t moved = exchange_.bytes_moved();
    if (moved != moved_ || last_move_ == kNever) {
      moved_ = moved;
      last_move_ = now;
    }
    return saturating_add(last_move_, request_.stall_timeout);
  }

  static int until(MonoTime when, MonoTime now) {
    constexpr auto kLongest = std::chrono::minutes(1);
    if (when == kNever || when - now > kLongest) {
      return static_cast<int>(std::chrono::milliseconds(kLongest).count());
    }
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(when - now).count());
  }

  Error ended(ErrorCode code, const std::string& why) const {
    return {code, fmt::format("{} {}: {}", request_.method, without_query(request_.url), why)};
  }
  Error broken(CURLMcode code) const {
    return ended(exchange_.request_began() ? ErrorCode::kUnknownOutcome : ErrorCode::kUnavailable,
                 curl_multi_strerror(code));
  }

  CurlSlot& slot_;
  CurlExchange& exchange_;
  const HttpRequest& request_;
  const CallContext& ctx_;
  std::uint64_t moved_ = 0;
  MonoTime last_move_ = kNever;
};

Result<HttpResponse> PosixHttpClient::send(const HttpRequest& request, const CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const HttpUrl url, check_http_request(request));
  const auto too_late = [&](ErrorCode code, const char* why) {
    return Error(code, fmt::format("{} {}: {}", request.method, without_query(request.url), why));
  };
  if (ctx.stop.stop_requested()) {
    return too_late(ErrorCode::kCancelled, "stopped before it was sent");
  }
  if (steady_now() >= ctx.deadline) {
    return too_late(ErrorCode::kDeadlineExceeded, "the deadline had passed before it was sent");
  }
  OUTLAST_TRY_ASSIGN(std::unique_ptr<CurlSlot> slot, take_slot(url.scheme + "://" + url.authority));
  Result<HttpResponse> answer = exchange_on(*slot, request, ctx);
  give_back(std::move(slot));
  return answer;
}

Result<HttpResponse> PosixHttpClient::exchange_on(CurlSlot& slot, const HttpRequest& request,
                                                  const CallContext& ctx) {
  // The environment of a process does not change, as far as certificates go.
  static const std::string ca_file = ca_file_from_environment();
  CurlExchange exchange(request, slot, ca_file);
  OUTLAST_TRY(exchange.start());
  const std::stop_callback wake(ctx.stop, [&slot] { curl_multi_wakeup(slot.multi.get()); });
  OUTLAST_TRY_ASSIGN(const CURLcode code, Drive(slot, exchange, request, ctx).run());
  return exchange.finish(code);
}

// The slot that last talked to the same server probably still has a connection to it.
Result<std::unique_ptr<CurlSlot>> PosixHttpClient::take_slot(const std::string& origin) {
  std::unique_ptr<CurlSlot> slot;
  {
    const MutexLock lock(mutex_);
    const auto known = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [&](const auto& idle) { return idle->origin == origin; });
    if (!idle_.empty()) {
      const auto chosen = known == idle_.rend() ? idle_.end() - 1 : std::prev(known.base());
      slot = std::move(*chosen);
      idle_.erase(chosen);
    }
  }
  if (!slot) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    slot = std::make_unique<CurlSlot>();
    slot->multi.reset(curl_multi_init());
    slot->easy.reset(curl_easy_init());
    if (ready != CURLE_OK || !slot->multi || !slot->easy) {
      return Error(ErrorCode::kFailed, "libcurl cannot be set up; is there memory left?");
    }
    curl_multi_setopt(slot->multi.get(), CURLMOPT_MAXCONNECTS, kKeptConnectionsMax);
  }
  slot->origin = origin;
  return slot;
}

void PosixHttpClient::give_back(std::unique_ptr<CurlSlot> slot) {
  std::unique_ptr<CurlSlot> oldest;  // closed when the lock is free again
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(slot));
  if (idle_.size() > kIdleSlotsMax) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
}

}  // namespace

std::unique_ptr<HttpClient> make_posix_http_client() {
  return std::make_unique<PosixHttpClient>();
}

}  // namespace outlast::sys
