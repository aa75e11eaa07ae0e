// Writes pages of drills that nobody ran.
//
//   sample_pages FOLDER   NAME.html for each, and on stdout a line for each: name, lives
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "drill/report.h"
#include "report/drill_page.h"
#include "report/testing/sample_reports.h"

namespace {

namespace samples = outlast::report::testing;

bool write_page(const std::string& path, const outlast::drill::Report& report) {
  std::ofstream file(path, std::ios::binary);
  file << outlast::report::render_drill_page(report);
  file.close();
  return file.good();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  using Sample = std::pair<std::string_view, outlast::drill::Report>;
  const std::array pages = {
      Sample("passed", samples::passed_report()),   Sample("failed", samples::failed_report()),
      Sample("many", samples::passed_report(50)),   Sample("long", samples::long_report()),
      Sample("hostile", samples::hostile_report()), Sample("empty", {})};
  for (const auto& [name, report] : pages) {
    const std::string path = fmt::format("{}/{}.html", words[1], name);
    if (!write_page(path, report)) {
      fmt::print(stderr, "sample_pages: cannot write {}\n", path);
      return 1;
    }
    fmt::print("{}\t{}\n", name, report.disturbed.lives.size());
  }
  return 0;
}
