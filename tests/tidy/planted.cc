#include "tests/tidy/planted.h"

#include <string>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {

Files clean_files_and(const Files& planted) {
  Files files = {
      {"README.md", "# Read\n\n[the table](src/dependencies.txt)\n"},
      {"src/dependencies.txt",
       "# who: may\nbase:\nsys: base\njob: base\nsim: sys base\n"
       "cli/program: sys base\ncli: sim sys job base\n"},
      {"src/base/CMakeLists.txt", "outlast_module(base HEADERS time.h)\n"},
      {"src/base/time.h", "#pragma once\n"},
      {"src/sys/CMakeLists.txt", "outlast_module(sys HEADERS clock.h testing/suite.h)\n"},
      {"src/sys/clock.h", "#pragma once\n\n#include \"base/time.h\"\n"},
      {"src/sys/testing/suite.h", "#pragma once\n\n#include <gtest/gtest.h>\n"},
      {"src/sim/CMakeLists.txt", "outlast_module(sim HEADERS kernel.h)\n"},
      {"src/sim/kernel.h", "#pragma once\n"},
      {"src/job/CMakeLists.txt",
       "outlast_module(\n  job\n  HEADERS spec.h\n  SOURCES spec.cc\n  TESTS spec_test.cc)\n"},
      {"src/job/spec.h", "#pragma once\n"},
      {"src/job/spec.cc", "#include \"job/spec.h\"\n\n#include \"base/time.h\"\n"},
      {"src/job/spec_test.cc", "#include \"job/spec.h\"\n\n#include <gtest/gtest.h>\n"},
      {"src/cli/CMakeLists.txt", "outlast_module(cli HEADERS run.h)\n"},
      {"src/cli/run.h", "#pragma once\n"},
      {"src/cli/program/CMakeLists.txt", "outlast_module(cli/program SOURCES parse.cc)\n"},
      {"src/cli/program/parse.cc", "#include <CLI/CLI.hpp>\n"},
  };
  for (const auto& [path, text] : planted) {
    std::erase_if(files, [&](const auto& file) { return file.first == path; });
    files.emplace_back(path, text);
  }
  return files;
}

std::vector<std::string> findings_in(const Tree& tree) {
  std::vector<std::string> lines;
  for (const Finding& finding : check_tree(tree)) lines.push_back(to_string(finding));
  return lines;
}

std::vector<std::string> findings_with(const Files& planted) {
  Tree tree;
  for (const auto& [path, text] : clean_files_and(planted)) tree.add(path, text);
  return findings_in(tree);
}

Files job_code(const std::string& code) {
  return {{"src/job/spec.cc", "#include \"job/spec.h\"\n\n" + code + "\n"}};
}

}  // namespace outlast::tidy
