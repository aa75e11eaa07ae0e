#include "report/timeline_shapes.h"

#include <string_view>

#include "report/life_bars.h"

namespace outlast::report {

std::string_view class_of(BarKind kind) {
  switch (kind) {
    case BarKind::kStarting:
      return "starting";
    case BarKind::kTraining:
      return "training";
    case BarKind::kIdle:
      return "idle";
    case BarKind::kSpare:
      return "spare";
    case BarKind::kNotice:
      return "notice";
    case BarKind::kWithdrawn:
      return "withdrawn";
  }
  return "";
}

}  // namespace outlast::report
