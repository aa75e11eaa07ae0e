#pragma once

#include <string>
#include <string_view>

#include "trainers/metrics.h"

namespace outlast::trainers {

// The curves of a training as one SVG picture that needs nothing else: loss above, accuracy below,
// while training and on the examples kept for testing, over the epochs. Pure.
std::string plot_svg(const Metrics& metrics, std::string_view title);

}  // namespace outlast::trainers
