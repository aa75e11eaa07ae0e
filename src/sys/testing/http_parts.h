#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sys/http.h"
#include "sys/http_server.h"

// The other end of a request, and what it carries: for tests of clients and of what uses them.
namespace outlast::sys::testing {

// Remembers what came, and answers what it is told to. Thread-safe.
class HttpRecorder {
 public:
  HttpHandler handler() {
    return [this](const HttpServerRequest& request) {
      const MutexLock lock(mutex_);
      requests_.push_back(request);
      return answer_ ? answer_(request) : HttpResponse{.status = 200};
    };
  }
  void answer_with(std::function<HttpResponse(const HttpServerRequest&)> answer) {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
  }
  void answer_with(HttpResponse answer) {
    answer_with([answer = std::move(answer)](const HttpServerRequest&) { return answer; });
  }
  std::vector<HttpServerRequest> requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }
  HttpServerRequest last() {
    const auto all = requests();
    EXPECT_FALSE(all.empty());
    return all.empty() ? HttpServerRequest{} : all.back();
  }

 private:
  Mutex mutex_;
  std::function<HttpResponse(const HttpServerRequest&)> answer_;
  std::vector<HttpServerRequest> requests_;
};

// Bytes that are made as they are read, and perhaps come to an early end. Confined to its owner.
class HttpMadeBody : public HttpBody {
 public:
  explicit HttpMadeBody(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) override {
    if (fails_at && offset >= *fails_at) return Error(ErrorCode::kCorrupt, "the source is broken");
    if (ends_at && offset >= *ends_at) return std::size_t{0};
    const std::uint64_t end = std::min({size_, fails_at.value_or(size_), ends_at.value_or(size_)});
    const std::uint64_t left = end - offset;
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), left);
    for (std::size_t i = 0; i < count; ++i) {
      buffer[i] = static_cast<std::byte>(at(offset + i));
    }
    return count;
  }
  static char at(std::uint64_t offset) { return static_cast<char>('a' + offset % 23); }
  static std::string text(std::uint64_t size) {
    std::string made(size, '\0');
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = at(i);
    return made;
  }
  std::optional<std::uint64_t> fails_at = {};
  std::optional<std::uint64_t> ends_at = {};

 private:
  std::uint64_t size_;
};

}  // namespace outlast::sys::testing
