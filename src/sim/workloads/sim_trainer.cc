#include "sim/workloads/sim_trainer.h"

#include <fmt/core.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

constexpr std::string_view kBegins = "checkpoint_";
constexpr std::string_view kEnds = ".bin";
constexpr std::string_view kOnlyFile = "model.pkl";
constexpr std::uint64_t kFilesKept = 2;

std::uint64_t learn(std::uint64_t learnt, std::uint64_t step) {
  return (learnt ^ step) * 0x100000001b3 + 1;
}

struct Learnt {
  std::uint64_t step = 0;
  std::uint64_t value = 7;
};

std::string text_of(const Learnt& learnt) {
  return fmt::format("{} {} end", learnt.step, learnt.value);
}

std::optional<Learnt> read_learnt(const std::string& text) {
  std::istringstream words(text);
  Learnt learnt;
  std::string end;
  if (!(words >> learnt.step >> learnt.value >> end) || end != "end") return std::nullopt;
  return learnt;
}

class TrainerLife {
 public:
  TrainerLife(Machine& machine, const SimTrainer& trainer, SimProcessSelf& self)
      : world_(machine.world()), trainer_(trainer), self_(self) {}

  int run() {
    if (is_polite()) {
      self_.handle(SIGTERM);
      self_.handle(SIGUSR1);
    }
    if (!sys::make_dirs(world_.files, trainer_.folder)) return 1;
    const Result<std::optional<Learnt>> found = load();
    if (!found) return 1;  // a disk that fails; the next life may do better
    const std::optional<Learnt>& begun = *found;
    trainer_.began(begun ? std::optional(begun->step) : std::nullopt);
    if (!begun) return 1;
    Learnt learnt = *begun;
    while (learnt.step < trainer_.steps) {
      if (!world_.clock.sleep_for(trainer_.step_time, {})) return 1;
      ++learnt.step;
      learnt.value = learn(learnt.value, learnt.step);
      self_.out(fmt::format("step {}/{}\n", learnt.step, trainer_.steps));
      if (trainer_.reached) trainer_.reached(learnt.step);
      if (world_.random.chance(trainer_.crash_per_step)) return 1;
      const int signal_number = next_signal();
      const bool is_due = learnt.step % trainer_.save_every == 0 || learnt.step == trainer_.steps;
      if ((is_due || signal_number != 0) && !save(learnt)) return 1;
      if (signal_number == SIGTERM) {
        return trainer_.manner == TrainerManner::kLies ? 0 : trainer_.left_code;
      }
    }
    trainer_.finished(learnt.value);
    return 0;
  }

 private:
  bool is_polite() const {
    return trainer_.manner == TrainerManner::kPolite || trainer_.manner == TrainerManner::kLies;
  }

  // The last one that came, 0 if none did.
  int next_signal() {
    int last = 0;
    if (!is_polite()) return last;
    while (true) {
      const Result<int> signal_number = self_.next_signal({.deadline = world_.clock.mono_now()});
      if (!signal_number) return last;
      if (last != SIGTERM) last = *signal_number;
    }
  }

  std::string path_of(std::uint64_t step) const {
    return sys::join_path(trainer_.folder, fmt::format("{}{}{}", kBegins, step, kEnds));
  }

  // The newest; step 0 if there is none; nullopt if it is none that was written whole.
  Result<std::optional<Learnt>> load() {
    std::string newest;
    std::uint64_t newest_step = 0;
    OUTLAST_TRY_ASSIGN(const auto entries, world_.files.list(trainer_.folder));
    for (const sys::DirectoryEntry& entry : entries) {
      if (entry.name == kOnlyFile) newest = entry.name;
      if (!entry.name.starts_with(kBegins) || !entry.name.ends_with(kEnds)) continue;
      const std::uint64_t step = std::stoull(entry.name.substr(kBegins.size()));
      if (newest.empty() || step > newest_step) {
        newest = entry.name;
        newest_step = step;
      }
    }
    if (newest.empty()) return std::optional(Learnt{});
    OUTLAST_TRY_ASSIGN(const std::string text,
                       sys::read_file(world_.files, sys::join_path(trainer_.folder, newest), 4096));
    return read_learnt(text);
  }

  bool save(const Learnt& learnt) {
    if (trainer_.manner == TrainerManner::kInPlace) return overwrite(text_of(learnt));
    const std::string path = path_of(learnt.step);
    if (!write(path + ".tmp", text_of(learnt)) || !world_.files.rename(path + ".tmp", path)) {
      return false;
    }
    const std::uint64_t old = kFilesKept * trainer_.save_every;
    if (learnt.step > old) (void)world_.files.remove_file(path_of(learnt.step - old));
    return true;
  }

  // Nothing is synced: nobody's trainer does that.
  bool write(const std::string& path, const std::string& text) {
    const auto file = world_.files.open(path, sys::OpenMode::kTruncate);
    return file && (*file)->write_at(as_bytes(text), 0);
  }

  bool overwrite(const std::string& text) {
    const std::string path = sys::join_path(trainer_.folder, kOnlyFile);
    const auto file = world_.files.open(path, sys::OpenMode::kTruncate);
    if (!file) return false;
    const std::size_t half = text.size() / 2;
    if (!(*file)->write_at(as_bytes(std::string_view(text).substr(0, half)), 0)) return false;
    if (!world_.clock.sleep_for(trainer_.step_time / 2, {})) return false;
    return (*file)->write_at(as_bytes(std::string_view(text).substr(half)), half).has_value();
  }

  sys::World& world_;
  const SimTrainer& trainer_;
  SimProcessSelf& self_;
};

}  // namespace

std::uint64_t all_learnt(std::uint64_t steps) {
  Learnt learnt;
  while (learnt.step < steps) {
    ++learnt.step;
    learnt.value = learn(learnt.value, learnt.step);
  }
  return learnt.value;
}

SimProgram make_trainer(Machine& machine, SimTrainer trainer) {
  return [&machine, trainer = std::move(trainer)](SimProcessSelf& self) {
    return TrainerLife(machine, trainer, self).run();
  };
}

}  // namespace outlast::sim
