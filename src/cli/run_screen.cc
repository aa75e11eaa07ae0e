#include "cli/run_screen.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "agent/beat.h"
#include "agent/event.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/progress_reader.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::cli {
namespace {

using agent::AgentState;
using agent::EventLevel;

constexpr std::size_t kItemsMax = 64;

Colour colour_of(EventLevel level) {
  switch (level) {
    case EventLevel::kGood:
      return Colour::kGreen;
    case EventLevel::kWarning:
      return Colour::kYellow;
    case EventLevel::kBad:
      return Colour::kRed;
    case EventLevel::kNote:
      break;
  }
  return Colour::kDim;
}

std::string progress_words(const job::Progress& progress) {
  std::string text;
  const auto add = [&](const std::string& words) { text += text.empty() ? words : ", " + words; };
  if (progress.epoch) {
    add(progress.epochs ? fmt::format("epoch {:g}/{:g}", *progress.epoch, *progress.epochs)
                        : fmt::format("epoch {:g}", *progress.epoch));
  }
  if (progress.step) {
    add(progress.total ? fmt::format("step {}/{}", *progress.step, *progress.total)
                       : fmt::format("step {}", *progress.step));
  }
  if (progress.rate) add(fmt::format("{:.3g}/s", *progress.rate));
  const auto loss = progress.metrics.find("loss");
  if (loss != progress.metrics.end()) add(fmt::format("loss {:.4g}", loss->second));
  return text;
}

}  // namespace

std::string standing_text(const agent::Beat& beat, WallTime now) {
  std::string text(agent::to_string(beat.state));
  if (const std::string words = progress_words(beat.progress); !words.empty()) {
    text += ", " + words;
  }
  if (beat.committed) {
    text +=
        fmt::format("; checkpoint {}{} {} ago", beat.committed->seq,
                    beat.committed->step ? fmt::format(" (step {})", *beat.committed->step) : "",
                    format_duration_short(std::max(now - beat.committed->time, Duration())));
  } else {
    text += "; no checkpoint yet";
  }
  if (beat.lag) text += fmt::format(", {} behind", format_duration_short(*beat.lag));
  if (beat.margin) {
    text +=
        *beat.margin < Duration::zero()
            ? fmt::format("; does not fit the notice by {}", format_duration_short(-*beat.margin))
            : fmt::format("; margin {}", format_duration_short(*beat.margin));
  }
  if (!beat.trouble.empty()) text += "; " + beat.trouble;
  return printable_whole(text);
}

RunScreen::RunScreen(const Terminal& terminal, sys::Threads& threads, sys::Clock& clock)
    : terminal_(terminal),
      clock_(clock),
      is_person_(terminal.console().err_is_terminal() && !terminal.json()),
      line_(terminal, clock),
      inbox_(threads, kItemsMax),
      thread_(threads.spawn("screen", [this](const std::stop_token& stop) { run(stop); })) {}

RunScreen::~RunScreen() = default;

void RunScreen::printed(bool is_err, std::string_view piece, const sys::CallContext& ctx) {
  (void)inbox_.post(Piece{.is_err = is_err, .text = std::string(piece)}, ctx);
}

void RunScreen::happened(const agent::Event& event) {
  (void)inbox_.try_post(event);
}

void RunScreen::stands(const agent::Beat& beat) {
  if (terminal_.shows_progress()) (void)inbox_.try_post(beat);
}

Duration RunScreen::stands_every() const {
  return terminal_.shows_progress() ? Duration(std::chrono::seconds(1)) : Duration::max();
}

void RunScreen::finish() {
  inbox_.close();
  thread_->join();
}

// Ends when the inbox is empty, and closed or no more wanted: who gives up early does not finish().
void RunScreen::run(const std::stop_token& stop) {
  while (true) {
    const Result<Item> item = inbox_.receive({.stop = stop});
    if (!item) break;
    std::visit([this](const auto& one) { show(one); }, *item);
  }
  line_.clear();
}

void RunScreen::show(const Piece& piece) {
  line_.clear();
  if (piece.is_err) {
    terminal_.console().err(piece.text);
  } else {
    terminal_.console().out(piece.text);
  }
  is_mid_line_ = !piece.text.ends_with('\n');
}

void RunScreen::show(const agent::Event& event) {
  const bool matters = event.level == EventLevel::kWarning || event.level == EventLevel::kBad;
  if (terminal_.quiet() && !matters) return;
  if (!is_person_) {
    terminal_.console().err(agent::encode_event(event));
    return;
  }
  line_.clear();
  // A line of the trainer's that is not ended must not swallow ours.
  const std::string text = fmt::format("outlast: {}", printable_whole(event.sentence));
  terminal_.console().err(fmt::format("{}{}\n", is_mid_line_ ? "\n" : "",
                                      terminal_.paint_err(colour_of(event.level), text)));
  is_mid_line_ = false;
}

void RunScreen::show(const agent::Beat& beat) {
  if (!is_mid_line_) line_.update(standing_text(beat, clock_.wall_now()));
}

}  // namespace outlast::cli
