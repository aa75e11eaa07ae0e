#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/program/exit_code.h"
#include "sys/world.h"

// A command says what it is, as data; parsing, --help, completion and the documents all read that.
// A new command is one file with a function that returns its CommandSpec, named in the catalog of
// its program.
namespace outlast::cli {

class Catalog;
class Terminal;
struct Invocation;

// Where the values of an option or an argument come from, for completion.
enum class Completes {
  kNothing,
  kFiles,
  kCommands,  // names of our own commands
};

struct OptionSpec {
  std::string name{};                // without the dashes
  char short_name = '\0';            // none by default
  std::string value_name{};          // what stands for the value in --help; empty for a flag
  std::string help{};                // a phrase; no full stop
  std::vector<std::string> words{};  // if not empty, the only values it takes
  std::string default_value{};  // what holds without it, for --help; parsing does not fill it in
  bool number = false;          // takes only whole numbers, from 0 to 2^64 - 1
  bool decimal = false;         // takes only finite numbers such as 0.001, -2 or 1e-4
  bool required = false;
  bool repeated = false;  // may be given several times: Invocation::list()
  Completes completes = Completes::kNothing;

  bool is_flag() const { return value_name.empty(); }
};

// A word that is not an option, by its place.
struct PositionalSpec {
  std::string name{};  // upper case, as in --help
  std::string help{};
  bool required = true;
  bool repeated = false;  // takes all that follow; only the last may
  std::vector<std::string> words{};
  bool number = false;
  Completes completes = Completes::kNothing;
};

struct Example {
  std::string command{};  // as typed
  std::string does{};
};

// What is particular to one program; everything else about its commands is in their specs.
struct ProgramSpec {
  std::string name{};               // as typed: "outlast"
  std::string tagline{};            // one line; no full stop
  std::string typical_command{};    // what help takes as its example: "job check"
  std::vector<Example> examples{};  // in the program's own --help
};

// What a running command has at hand. The parts outlive the call.
struct Context {
  sys::World& world;
  Terminal& terminal;
  const Catalog& catalog;
};

struct CommandSpec {
  std::vector<std::string> path{};         // {"job", "check"}
  std::string group{};                     // the heading it stands under in the program's --help
  std::string summary{};                   // one line; no full stop
  std::vector<std::string> description{};  // paragraphs
  std::vector<PositionalSpec> positionals{};
  std::vector<OptionSpec> options{};  // without the common ones
  std::string trailing_name{};        // what may follow "--"; empty if nothing may
  std::vector<Example> examples{};
  bool hidden = false;  // left out of help, completion and documents
  // Does the work. Results go to the terminal; an error that is returned is printed by the caller
  // and becomes the exit code of its kind. A command that has printed its errors returns the code
  // itself.
  std::function<Result<ExitCode>(const Invocation&, Context&)> run{};
  std::string program{};  // the program's name; the Catalog writes it

  // "job check".
  std::string name() const;
  // "outlast job check": as typed. Of an empty path: the program's name alone.
  std::string full_name() const;
};

// The options that every command takes.
std::span<const OptionSpec> common_options();

// The option of this name (without dashes) among the command's and the common ones, or nullptr.
// `command` may be nullptr: then only the common ones.
const OptionSpec* find_option(const CommandSpec* command, std::string_view name);

}  // namespace outlast::cli
