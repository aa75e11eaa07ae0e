#include "trainers/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace outlast::trainers {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Plot, ShowsACurveForEachThingThatWasMeasured) {
  Metrics metrics;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    metrics.add({.step = i * 10,
                 .epoch = static_cast<double>(i) / 5,
                 .loss = 2.0 / double(i),
                 .accuracy = 0.05 * double(i)});
  }
  metrics.add({.step = 50, .epoch = 1, .test_loss = 0.8, .test_accuracy = 0.3});
  const std::string svg = plot_svg(metrics, {.title = "cifar10 <1> & more"});
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<text "), count(svg, "</text>"));
  EXPECT_EQ(count(svg, "stroke-width"), 4U);
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_NE(svg.find("cifar10 &lt;1> &amp; more"), std::string::npos);
}

TEST(Plot, DrawsNothingOfWhatIsNoNumber) {
  Metrics metrics;
  metrics.add({.step = 1, .epoch = 1, .loss = std::nan("")});
  const std::string svg = plot_svg(metrics, {});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(plot_svg({}, {}).find("nan"), std::string::npos);
}

TEST(Plot, LeavesOutThePanelThatNothingIsKnownOfAndTakesItsWords) {
  Metrics metrics;
  metrics.add({.step = 1, .epoch = 1, .accuracy = 0.5, .test_accuracy = 0.5});
  metrics.add({.step = 2, .epoch = 2, .accuracy = 0.5, .test_accuracy = 0.4});
  const std::string svg = plot_svg(
      metrics, {.axis = "apples", .training = "best", .test = "each", .test_is_dots = true});
  EXPECT_EQ(svg.find("loss"), std::string::npos);
  EXPECT_NE(svg.find(">accuracy, best<"), std::string::npos);
  EXPECT_EQ(count(svg, ">apples<"), 1U);
  EXPECT_EQ(count(svg, "stroke-width"), 1U);
  EXPECT_EQ(count(svg, "<circle"), 2U);
}

}  // namespace
}  // namespace outlast::trainers
