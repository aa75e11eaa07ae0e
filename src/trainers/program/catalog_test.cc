#include "trainers/program/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/help.h"

namespace outlast::trainers {
namespace {

TEST(TrainerCatalog, KnowsTheOptionsOfEveryTask) {
  const cli::Catalog catalog = make_catalog();
  for (const std::string_view name : {"cifar10", "imagenet", "horses", "bert", "census"}) {
    const auto task = std::ranges::find_if(
        catalog.commands(), [name](const auto& command) { return command.path.front() == name; });
    ASSERT_NE(task, catalog.commands().end()) << name;
    EXPECT_NE(cli::find_option(&*task, "job-dir"), nullptr) << name;
    EXPECT_TRUE(task->run) << name;
  }
}

TEST(TrainerCatalog, TheDocumentIsUpToDate) {
  std::ifstream file(OUTLAST_SOURCE_DIR "/docs/trainer_commands.md");
  std::ostringstream document;
  document << file.rdbuf();
  EXPECT_EQ(document.str(), cli::commands_markdown(make_catalog()))
      << "Update it: build/bin/outlast-train help --markdown > docs/trainer_commands.md";
}

}  // namespace
}  // namespace outlast::trainers
