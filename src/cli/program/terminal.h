#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "sys/console.h"
#include "sys/environment.h"

namespace outlast::cli {

enum class Colour { kBold, kDim, kRed, kGreen, kYellow };

enum class ColourChoice { kAuto, kAlways, kNever };
// "auto", "always" or "never"; anything else is kAuto.
ColourChoice colour_choice(std::string_view word);

// Whether a stream is coloured. kAuto: on a terminal, unless NO_COLOR is set to something or TERM
// is "dumb".
bool use_colour(ColourChoice choice, bool is_terminal, sys::Environment& environment);

// Whether the locale of the environment can show more than ASCII.
bool speaks_utf8(sys::Environment& environment);

// How a command talks to the user, in the manner that was asked for. Immutable after construction;
// thread-safe as far as the console is, which must outlive it.
class Terminal {
 public:
  struct Manner {
    std::string program{};  // whose errors and warnings they are
    bool json = false;
    bool quiet = false;
    bool colour_out = false;
    bool colour_err = false;
    bool utf8 = false;
  };

  Terminal(sys::Console& console, Manner manner) : console_(console), manner_(std::move(manner)) {}

  bool json() const { return manner_.json; }
  bool quiet() const { return manner_.quiet; }
  bool utf8() const { return manner_.utf8; }
  // Whether paint() paints.
  bool colours() const { return manner_.colour_out; }
  // Whether a progress line would be seen, and is wanted.
  bool shows_progress() const;

  // A result: standard output. The caller ends its lines.
  void print(std::string_view text) const { console_.out(text); }
  void print_json(const Json& value) const;
  // A mistake of the user's input, exactly as it is: standard error.
  void complain(std::string_view text) const { console_.err(text); }
  // Something good to know: standard error, one line, unless quiet or JSON.
  void note(std::string_view line) const;
  // "PROGRAM: warning: …" on standard error, whatever was asked for: what must be seen.
  void warn(std::string_view message) const;
  // "PROGRAM: error: …" on standard error; with JSON an object on standard output. `code` is a word
  // for programs.
  void error(std::string_view code, std::string_view message) const;
  void error(const Error& error) const;

  // For print(): the text in a colour, if that is wanted there. paint_err() is for standard error.
  std::string paint(Colour colour, std::string_view text) const;
  std::string paint_err(Colour colour, std::string_view text) const;

  sys::Console& console() const { return console_; }

 private:
  sys::Console& console_;
  Manner manner_;
};

}  // namespace outlast::cli
