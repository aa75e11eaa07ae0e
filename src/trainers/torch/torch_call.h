#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/result.h"

namespace outlast::trainers {

// Calls `work`, which returns a Result and may throw what libtorch throws: kNoSpace if there was
// not enough memory, kFailed otherwise, with the first line of what libtorch said.
template <class Work>
auto torch_call(const std::string& doing, Work&& work) -> decltype(work()) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kNoSpace, doing + ": out of memory; try a smaller --batch-size");
  } catch (const c10::Error& error) {
    return Error(ErrorCode::kFailed, doing + ": " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return Error(ErrorCode::kFailed, doing + ": " + first_line(error.what()));
  }
}

}  // namespace outlast::trainers
