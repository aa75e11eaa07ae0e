#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "stand_in/happening.h"
#include "sys/http.h"

namespace outlast::stand_in {

// A fault that a request has met.
struct Fault {
  Happening what = {};
  MonoTime until = kNever;  // for which it is in force
};

// What is wrong with a service. Confined to its owner.
class Faults {
 public:
  void add(const Happening& fault, MonoTime now);
  void clear();

  // The fault that a request for this path meets now; of several the newest. One that is there only
  // once is gone then.
  std::optional<Fault> meet(std::string_view path, MonoTime now);
  // How often there was an end to all faults.
  int times_cleared() const { return times_cleared_; }

 private:
  std::vector<Fault> faults_;
  int times_cleared_ = 0;
};

// The answers that faults make: nothing of them is the service's own.
sys::HttpResponse failing_answer(int status);
sys::HttpResponse page_for_people();
// The first half of an answer, which declares the whole.
sys::HttpResponse half_of(sys::HttpResponse answer);

}  // namespace outlast::stand_in
