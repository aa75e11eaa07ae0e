#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "agent/attempt.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "base/time.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/inbox.h"
#include "sys/threads.h"

namespace outlast::cli {

// "step 1200/5000, 12.3/s, loss 0.412; checkpoint 7 (step 1000) 14s ago; next in 46s": where an
// attempt stands, in one line.
std::string standing_text(const agent::Beat& beat, WallTime now);

// What 'outlast run' shows: the trainer's output as it is, what happens to the attempt in lines
// between it (sentences on a terminal, JSON elsewhere), and on a terminal one line at the bottom
// that says where it stands. One thread writes all of it, so that a screen that is held up holds up
// the trainer's output and nothing else. Thread-safe.
class RunScreen : public agent::Front {
 public:
  RunScreen(const Terminal& terminal, sys::Threads& threads, sys::Clock& clock);
  ~RunScreen() override;
  RunScreen(const RunScreen&) = delete;
  RunScreen& operator=(const RunScreen&) = delete;

  void printed(bool is_err, std::string_view piece, const sys::CallContext& ctx) override;
  void happened(const agent::Event& event) override;
  void stands(const agent::Beat& beat) override;
  Duration stands_every() const override;

  // Everything is on the screen when this returns; nothing may come after it.
  void finish();

 private:
  struct Piece {
    bool is_err = false;
    std::string text = {};
  };
  using Item = std::variant<Piece, agent::Event, agent::Beat>;

  void run(const std::stop_token& stop);
  void show(const Piece& piece);
  void show(const agent::Event& event);
  void show(const agent::Beat& beat);

  const Terminal& terminal_;
  sys::Clock& clock_;
  const bool is_person_;
  ProgressLine line_;
  bool is_mid_line_ = false;  // of the trainer's output
  sys::Inbox<Item> inbox_;
  std::unique_ptr<sys::Thread> thread_;  // ends before what it uses
};

}  // namespace outlast::cli
