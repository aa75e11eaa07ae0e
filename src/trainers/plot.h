#pragma once

#include <string>
#include <string_view>

#include "trainers/metrics.h"

namespace outlast::trainers {

// What a plot is called, and its parts.
struct PlotWords {
  std::string_view title = {};
  std::string_view axis = "epoch";
  std::string_view training = "training";  // the curve of what training itself says
  std::string_view test = "test";          // and of what the examples kept for testing say
  bool test_is_dots = false;               // alone, without a line between them
};

// The curves of a training as one SVG picture that needs nothing else: loss above, accuracy below,
// while training and on the examples kept for testing, over the epochs. Of what no point knows,
// nothing is drawn. Pure.
std::string plot_svg(const Metrics& metrics, const PlotWords& words);

}  // namespace outlast::trainers
