#include "cli/program/progress_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "base/time.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {
namespace {

constexpr Duration kRedrawEvery = std::chrono::milliseconds(100);
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

void ProgressLine::update(std::string_view text) {
  if (!wanted_) return;
  const MonoTime now = clock_.mono_now();
  if (drawn_ && now - *drawn_ < kRedrawEvery) return;
  drawn_ = now;
  // One column stays free: a character in the last one makes some terminals wrap.
  const auto width = static_cast<std::size_t>(std::max(terminal_.console().columns() - 1, 1));
  terminal_.console().err(fmt::format("{}{}", kEraseLine, clip(text, width)));
}

void ProgressLine::clear() {
  if (drawn_) terminal_.console().err(kEraseLine);
  drawn_.reset();
}

}  // namespace outlast::cli
