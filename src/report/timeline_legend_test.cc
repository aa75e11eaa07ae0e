#include "report/timeline_legend.h"

#include <gtest/gtest.h>

#include <string>

#include "drill/report.h"
#include "report/markup.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

TEST(TimelineLegend, ExplainsOnlyWhatThereIs) {
  const auto legend = [](const drill::Report& report) {
    Markup markup;
    write_legend(markup, report);
    return markup.take();
  };
  EXPECT_EQ(legend(testing::passed_report()).find("killed"), std::string::npos);
  EXPECT_NE(legend(testing::passed_report()).find("under notice"), std::string::npos);
  EXPECT_NE(legend(testing::failed_report()).find("killed"), std::string::npos);
  EXPECT_EQ(legend(testing::long_report()).find("notice"), std::string::npos);
}

}  // namespace
}  // namespace outlast::report
