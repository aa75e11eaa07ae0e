#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/testing/command_runner.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli::testing {

// One command after the other on one simulated machine, with a root in /root.
class CkptSession {
 public:
  CkptSession(sys::World& world, sim::Machine& machine) : world_(world), machine_(machine) {}

  // Any command.
  Ran run(const std::vector<std::string>& words) {
    machine_.console().out_text.clear();
    machine_.console().err_text.clear();
    const int code = static_cast<int>(cli::run(words, world_));
    return {
        .exit_code = code, .out = machine_.console().out_text, .err = machine_.console().err_text};
  }
  // 'outlast ckpt <command> --root /root --job j <words>'.
  Ran ckpt(const std::string& command, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"ckpt", command, "--root", "/root", "--job", "j"});
    return run(words);
  }
  // The same, which must succeed; with --json, parsed.
  Json json(const std::string& command, std::vector<std::string> words = {}) {
    words.emplace_back("--json");
    const Ran ran = ckpt(command, words);
    EXPECT_EQ(ran.exit_code, 0) << command << ": " << ran.out << ran.err;
    return parse_json(ran.out).value_or(Json());
  }
  // Its number.
  std::uint64_t save(std::vector<std::string> words) {
    return json("save", std::move(words)).value("seq", std::uint64_t{0});
  }

  void write(const std::string& path, std::string_view text) {
    EXPECT_TRUE(sys::make_dirs(world_.files, sys::parent_path(path)));
    EXPECT_TRUE(sys::write_file_atomically(world_.files, path, as_bytes(text)));
  }
  std::string read(const std::string& path) {
    return sys::read_file(world_.files, path, 1U << 30U).value_or("(no file)");
  }
  bool exists(const std::string& path) { return world_.files.stat(path).has_value(); }
  std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    const auto entries = world_.files.list(folder);
    if (!entries) return names;
    for (const sys::DirectoryEntry& entry : *entries) names.push_back(entry.name);
    return names;
  }
  // Of the job's folder, with its path: "packs" gives every pack.
  std::vector<std::string> objects(const std::string& kind) {
    std::vector<std::string> paths;
    const std::string folder = "/root/jobs/j/" + kind;
    for (const std::string& name : names_in(folder)) paths.push_back(folder + "/" + name);
    return paths;
  }
  // Changes the first byte of a file: of a pack, that of a chunk.
  void damage(const std::string& path) {
    std::string text = read(path);
    ASSERT_FALSE(text.empty());
    text[0] = static_cast<char>(text[0] ^ 1);
    write(path, text);
  }

  sys::World& world() { return world_; }

 private:
  sys::World& world_;
  sim::Machine& machine_;
};

inline void in_ckpt_session(const std::function<void(CkptSession&)>& body) {
  CommandRunner runner;
  runner.run_body([&](sys::World& world) {
    CkptSession session(world, runner.machine());
    body(session);
  });
}

inline bool mentions_all(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return false;
  }
  return true;
}

}  // namespace outlast::cli::testing
