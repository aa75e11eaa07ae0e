#include "stand_in/faults.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "stand_in/happening.h"
#include "sys/http.h"

namespace outlast::stand_in {

void Faults::add(const Happening& fault, MonoTime now) {
  faults_.push_back({.what = fault, .until = saturating_add(now, fault.lasts)});
}

void Faults::clear() {
  faults_.clear();
  ++times_cleared_;
}

std::optional<Fault> Faults::meet(std::string_view path, MonoTime now) {
  std::erase_if(faults_, [now](const Fault& fault) { return fault.until <= now; });
  for (std::size_t i = faults_.size(); i > 0; --i) {
    if (!path.starts_with(faults_[i - 1].what.path)) continue;
    Fault met = faults_[i - 1];
    if (met.what.once) faults_.erase(faults_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    return met;
  }
  return std::nullopt;
}

sys::HttpResponse failing_answer(int status) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain"}},
          .body = "Something is wrong with this service.\n"};
}

sys::HttpResponse page_for_people() {
  return {.status = 200,
          .headers = {{"Content-Type", "text/html; charset=utf-8"}},
          .body =
              "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n"
              "<body><h1>Sign in to this network</h1></body></html>\n"};
}

sys::HttpResponse half_of(sys::HttpResponse answer) {
  // Something must be missing, also of an empty body.
  answer.headers.emplace_back("Content-Length", std::to_string(answer.body.size() + 1));
  answer.body.resize(answer.body.size() / 2);
  return answer;
}

}  // namespace outlast::stand_in
