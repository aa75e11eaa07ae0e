#include "cli/program/terminal.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "sys/console.h"
#include "sys/environment.h"

namespace outlast::cli {
namespace {

std::string_view escape_sequence(Colour colour) {
  switch (colour) {
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
  }
  return "";
}

std::string painted(bool wanted, Colour colour, std::string_view text) {
  if (!wanted || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_sequence(colour), text);
}

}  // namespace

ColourChoice colour_choice(std::string_view word) {
  if (word == "always") return ColourChoice::kAlways;
  if (word == "never") return ColourChoice::kNever;
  return ColourChoice::kAuto;
}

bool use_colour(ColourChoice choice, bool is_terminal, sys::Environment& environment) {
  if (choice != ColourChoice::kAuto) return choice == ColourChoice::kAlways;
  return is_terminal && environment.get("NO_COLOR").value_or("").empty() &&
         environment.get("TERM").value_or("") != "dumb";
}

bool speaks_utf8(sys::Environment& environment) {
  // The order in which the C library looks at them; the first that says something decides.
  for (const std::string_view name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = ascii_lower(environment.get(name).value_or(""));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool Terminal::shows_progress() const {
  return !manner_.json && !manner_.quiet && console_.err_is_terminal();
}

void Terminal::print_json(const Json& value) const {
  console_.out(pretty_json(value) + "\n");
}

void Terminal::note(std::string_view line) const {
  if (!manner_.json && !manner_.quiet) console_.err(fmt::format("{}\n", line));
}

void Terminal::warn(std::string_view message) const {
  console_.err(fmt::format("{}: {} {}\n", manner_.program,
                           painted(manner_.colour_err, Colour::kYellow, "warning:"), message));
}

void Terminal::error(std::string_view code, std::string_view message) const {
  if (manner_.json) {
    print_json(Json{{"error", {{"code", code}, {"message", message}}}});
    return;
  }
  console_.err(fmt::format("{}: {} {}\n", manner_.program,
                           painted(manner_.colour_err, Colour::kRed, "error:"), message));
}

void Terminal::error(const Error& error) const {
  this->error(to_string(error.code()), error.to_string());
}

std::string Terminal::paint(Colour colour, std::string_view text) const {
  return painted(manner_.colour_out, colour, text);
}

std::string Terminal::paint_err(Colour colour, std::string_view text) const {
  return painted(manner_.colour_err, colour, text);
}

}  // namespace outlast::cli
