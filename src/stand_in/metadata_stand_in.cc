#include "stand_in/metadata_stand_in.h"

#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "stand_in/azure_stand_in.h"
#include "stand_in/ec2_stand_in.h"
#include "stand_in/faults.h"
#include "stand_in/gce_stand_in.h"
#include "stand_in/happening.h"
#include "stand_in/service.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/threads.h"

namespace outlast::stand_in {
namespace {

// Beyond them, refusals are not told of any more: somebody tries all paths there are.
constexpr std::size_t kRefusalsToldMax = 100;

// A service with a clock, that can be waited for and that has faults. The monitor guards the rest,
// and is not held while the clock is asked.
class ServedStandIn : public MetadataStandIn {
 public:
  ServedStandIn(std::unique_ptr<Service> service, sys::Clock& clock, sys::Threads& threads,
                Listener listener)
      : clock_(clock),
        listener_(std::move(listener)),
        monitor_(threads.make_monitor()),
        service_(std::move(service)) {}

  sys::HttpHandler handler() override {
    return [this](const sys::HttpServerRequest& request) { return handle(request); };
  }

  void announce(Duration left) override { tell({.word = "preempt", .time = left}); }
  void withdraw() override { tell({.word = "withdraw"}); }

  Result<void> happen(const Happening& happening) override {
    const std::vector<HappeningRow> rows = happenings_of(service_->cloud());
    if (find_row(rows, happening.word) == nullptr) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is nothing that can happen to {}",
                                                            happening.word, service_->cloud()));
    }
    tell(happening);
    return {};
  }

  int acknowledgements() const override {
    const std::unique_lock lock(*monitor_);
    return acknowledgements_;
  }

  std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const override {
    return service_->environment(url);
  }

  void release_waiting() override {
    const std::unique_lock lock(*monitor_);
    is_released_ = true;
    monitor_->notify_all();
  }

 private:
  Moment now(Duration clock_error) {
    return {.mono = clock_.mono_now(), .wall = clock_.wall_now() + clock_error};
  }

  Duration clock_error() const {
    const std::unique_lock lock(*monitor_);
    return clock_error_;
  }

  void tell(const Happening& happening) {
    const Moment moment = now(clock_error());
    const std::unique_lock lock(*monitor_);
    const std::vector<HappeningRow> rows = happenings_of(service_->cloud());
    const HappeningRow* const row = find_row(rows, happening.word);
    if (row != nullptr && row->is_fault) {
      faults_.add(happening, moment.mono);
    } else if (happening.word == "well") {
      faults_.clear();
    } else if (happening.word == "ahead" || happening.word == "behind") {
      clock_error_ = happening.word == "ahead" ? happening.time : -happening.time;
    } else {
      service_->happen(happening, moment);
    }
    monitor_->notify_all();
  }

  sys::HttpResponse handle(const sys::HttpServerRequest& request) {
    Result<Asked> asked = take_apart(request);
    Answer answer = asked ? answer_as_told(*asked, request.ctx)
                          : refuse(400, "the path or the query is not percent-encoded", {}, "");
    answer.response.headers.emplace_back("Date", cloud::format_http_date(now(clock_error()).wall));
    say(request, answer);
    return std::move(answer.response);
  }

  // With the fault that it meets.
  Answer answer_as_told(Asked& asked, const sys::CallContext& ctx) {
    const MonoTime arrived = clock_.mono_now();
    const std::optional<Fault> fault = meet(asked, arrived);
    if (!fault) return answer_in_time(asked, ctx);
    const std::string& word = fault->what.word;
    if (word == "fail") return signed_answer(failing_answer(fault->what.status));
    if (word == "html") return {.response = page_for_people()};
    if (word == "slow") wait_until(saturating_add(arrived, fault->what.time), ctx);
    if (word == "hang") wait_until(fault->until, ctx);
    Answer answer = answer_in_time(asked, ctx);
    if (word == "half") answer.response = half_of(std::move(answer.response));
    return answer;
  }

  std::optional<Fault> meet(const Asked& asked, MonoTime now) {
    const std::unique_lock lock(*monitor_);
    return faults_.meet(asked.path, now);
  }

  // Or until there is an end to faults, or to everything.
  void wait_until(MonoTime when, const sys::CallContext& ctx) {
    const std::unique_lock lock(*monitor_);
    const int cleared = faults_.times_cleared();
    while (!is_released_ && faults_.times_cleared() == cleared) {
      if (monitor_->wait(ctx.until(when)) != sys::Woken::kNotified) return;
    }
  }

  // When there is something to say: a request may wait for a change.
  Answer answer_in_time(Asked& asked, const sys::CallContext& ctx) {
    std::optional<MonoTime> patience;
    for (;;) {
      const Moment moment = now(clock_error());
      const std::unique_lock lock(*monitor_);
      Answer answer = service_->answer(asked, moment);
      acknowledgements_ += static_cast<int>(answer.acknowledged.size());
      if (!answer.acknowledged.empty()) monitor_->notify_all();
      if (!answer.hold || is_released_) return signed_answer(std::move(answer));
      if (!patience) patience = saturating_add(moment.mono, *answer.hold);
      if (moment.mono >= *patience) return signed_answer(std::move(answer));
      if (monitor_->wait(ctx.until(*patience)) != sys::Woken::kNotified) {
        return signed_answer(std::move(answer));
      }
    }
  }

  Answer signed_answer(sys::HttpResponse response) const {
    return signed_answer(Answer{.response = std::move(response)});
  }
  Answer signed_answer(Answer answer) const {
    for (auto& header : service_->signature()) {
      answer.response.headers.push_back(std::move(header));
    }
    return answer;
  }

  void say(const sys::HttpServerRequest& request, const Answer& answer) {
    if (!listener_) return;
    for (const std::string& sentence : answer.acknowledged) listener_("acknowledged", sentence);
    if (answer.refusal.empty()) return;
    std::string sentence =
        fmt::format("{} {} is refused with {}: {}", request.method,
                    sys::without_query(request.target), answer.response.status, answer.refusal);
    {
      const std::unique_lock lock(*monitor_);
      if (refusals_told_.size() >= kRefusalsToldMax || !refusals_told_.insert(sentence).second) {
        return;
      }
    }
    listener_("refused", sentence);
  }

  sys::Clock& clock_;
  const Listener listener_;
  const std::unique_ptr<sys::Monitor> monitor_;
  const std::unique_ptr<Service> service_;
  Faults faults_;
  Duration clock_error_ = Duration::zero();
  int acknowledgements_ = 0;
  bool is_released_ = false;
  std::set<std::string> refusals_told_;
};

}  // namespace

std::vector<std::string> stand_in_names() {
  return {"gce", "ec2", "azure"};
}

Result<std::unique_ptr<MetadataStandIn>> make_stand_in(std::string_view name, sys::Clock& clock,
                                                       sys::Threads& threads, Listener listener) {
  std::unique_ptr<Service> service;
  if (name == "gce") service = make_gce_stand_in();
  if (name == "ec2") service = make_ec2_stand_in();
  if (name == "azure") service = make_azure_stand_in();
  if (service == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is no stand-in of '{}'; there are gce, ec2 and azure", name));
  }
  return std::make_unique<ServedStandIn>(std::move(service), clock, threads, std::move(listener));
}

}  // namespace outlast::stand_in
