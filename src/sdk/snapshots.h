#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// What a C++ trainer uses to outlast its machine. Needs nothing but the C++ library (C++17) and
// Linux.
//
//   outlast::Snapshots snapshots;
//   snapshots.add("weights", weights.data(), weights.size());
//   snapshots.add("optimizer", momentum.data(), momentum.size());
//   for (std::uint64_t step = snapshots.resume().value_or(0); step < steps; ++step) {
//     train(step);
//     if (!snapshots.step_done(step + 1)) return snapshots.leave_code();
//   }
//   snapshots.done();
//
// Under `outlast run` a snapshot is a copy into memory that the agent owns: it outlives a crash of
// the trainer, and the agent makes checkpoints of it. Without outlast around it the same calls save
// to files and resume from them.
namespace outlast {

// A call that cannot be done as it was made, or a state that does not fit: what, where, and what to
// do.
class SnapshotError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of an element; the names are those of the safetensors format.
enum class Dtype { kBool, kU8, kI8, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kF64, kI64, kU64 };

// Why this trainer will have to go.
struct Notice {
  std::chrono::system_clock::time_point ends = {};  // of the machine
};

struct SnapshotOptions {
  // Which process of the job this is, and of how many; both or neither. Unless given: RANK and
  // WORLD_SIZE, as torchrun sets them, or SLURM_PROCID and SLURM_NTASKS, in what srun has started
  // (SLURM_STEP_ID is a number; a batch script is no rank), or OMPI_COMM_WORLD_RANK and
  // OMPI_COMM_WORLD_SIZE, or 0 of 1. An empty variable is as none. A snapshot of the job counts
  // when all of them have one of the same step.
  std::optional<std::uint32_t> rank = {};
  std::optional<std::uint32_t> ranks = {};
  // For copying; as many as this process may use, 4 at most, unless given.
  std::optional<unsigned> threads = {};
  // step_done() also takes a snapshot after every so many steps; 0: only when outlast wants one,
  // and, where there is only one process, as often as costs no more than a hundredth of the time.
  std::uint64_t every_steps = 0;
  // Without outlast: where files go, and how often step_done() writes them unless every_steps is
  // given; only where there is one process, since several would write after different steps.
  std::string folder = "outlast-snapshots";
  std::chrono::milliseconds file_interval = std::chrono::minutes(5);
};

// The state of one process. Everything in it is registered once, before resume(); from then on it
// must stay where it is and keep its size. Belongs to the thread that made it, and to this process:
// a child made by fork() must not use it, which is refused. Every call throws SnapshotError where
// it says so; what is registered is not changed then.
class Snapshots {
 public:
  explicit Snapshots(SnapshotOptions options = {});
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  // --- What belongs to the state. Names are UTF-8, not empty, each once. Refused after resume() or
  // --- a save, and if two overlap in memory.

  void add(std::string name, void* data, Dtype dtype, std::vector<std::uint64_t> shape);
  template <class T>
  void add(std::string name, T* data, std::size_t count);  // of one dimension
  // Bytes that differ in length from time to time (a generator's state, a position in the data):
  // `get` is called in each save, `set` in resume(). At most `capacity` bytes.
  void add_blob(std::string name, std::size_t capacity, std::function<std::string()> get,
                std::function<void(std::string_view)> set);
  // A blob that tells whether a snapshot is of the same training (its hyper-parameters, say), whose
  // tensors may differ as well: `check` is called with it in resume() before anything is looked at
  // or changed, and what it throws comes out as it is.
  void add_check(std::string name, std::size_t capacity, std::function<std::string()> get,
                 std::function<void(std::string_view)> check);
  // The commonest blob: a value without pointers, of always the same size.
  template <class T>
  void add_value(std::string name, T* value);

  // --- The beginning

  // Puts back the newest snapshot and returns its step; nothing if there is none, and nothing is
  // changed then. Throws if there is one that does not fit what was registered, naming the first
  // tensor that differs, and both shapes; if nothing is registered; and if outlast refuses, which
  // the first save says too if there was no resume(): the state is larger than the memory, or
  // another process has this rank. All that is looked at before anything is changed. What a blob's
  // `set` throws comes out as it is: the tensors and the blobs before it are those of the snapshot
  // by then, and the others are not, so that nothing may be trained on that.
  //
  // Without outlast it is the newest step that all ranks have in the folder; this rank's files of
  // later steps are removed. If there is no such step, all of its files are set aside under another
  // name, which is said on stderr. Throws also if the folder cannot be read or written, or another
  // process saves this rank there, as the first save does.
  std::optional<std::uint64_t> resume();

  // --- After each step

  // Tells how far training is, and takes a snapshot if one is wanted or due, and after the last
  // step of all. False: this machine ends, the snapshot is taken, and the trainer is to leave, with
  // leave_code(). Throws as save().
  bool step_done(std::uint64_t step, std::optional<std::uint64_t> total = {});

  // Takes a snapshot: returns when all is copied. Throws if nothing is registered, or a blob is
  // longer than it may be, or, without outlast, if the file cannot be written. Of this
  // rank's files there remain this one, the one before it, and the newest that all ranks have. Once
  // outlast has died it does nothing.
  void save(std::uint64_t step);
  // The same, while training goes on: what is registered must not change before before_update() has
  // returned; every other call that needs it waits as well. A blob's `get` is called at once.
  // Without outlast it is save().
  void save_async(std::uint64_t step);
  // Waits for save_async(), if one is under way. Before the parameters change, in every step.
  void before_update();

  // --- The end

  // The job is done, whatever exit code follows: takes a last snapshot, if step_done() told of a
  // step since the last one, and says so; of several ranks, each. Ignored after step_done() was
  // false. Throws as save().
  void done();

  // --- What else can be said and asked. Never throws, never waits. Before resume() or the first
  // --- save nobody listens.

  std::optional<Notice> notice() const;
  // Whether outlast would like a snapshot after this step, which is done: for those who do not use
  // step_done(). The next save answers.
  bool is_wanted(std::uint64_t step) const;
  void progress(std::uint64_t step, std::optional<std::uint64_t> total = {},
                std::optional<double> epoch = {});
  // Only finite values are kept.
  void metrics(const std::map<std::string, double>& values);

  // Whether `outlast run` is around this process, and still there, as far as it is known.
  bool has_agent() const;
  int leave_code() const;

 private:
  class State;
  void add_value_bytes(std::string name, void* value, std::size_t bytes);

  std::unique_ptr<State> state_;
};

// The element of a C++ type. Half precision has none in C++17: give its Dtype to add().
template <class T>
constexpr Dtype dtype_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "no element of a snapshot: give a Dtype, or use add_value()");
  if constexpr (std::is_same_v<T, bool>) {
    return Dtype::kBool;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? Dtype::kF32 : Dtype::kF64;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1   ? Dtype::kI8
           : sizeof(T) == 2 ? Dtype::kI16
           : sizeof(T) == 4 ? Dtype::kI32
                            : Dtype::kI64;
  } else {
    return sizeof(T) == 1   ? Dtype::kU8
           : sizeof(T) == 2 ? Dtype::kU16
           : sizeof(T) == 4 ? Dtype::kU32
                            : Dtype::kU64;
  }
}

template <class T>
void Snapshots::add(std::string name, T* data, std::size_t count) {
  add(std::move(name), static_cast<void*>(data), dtype_of<T>(), {count});
}

template <class T>
void Snapshots::add_value(std::string name, T* value) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "its bytes are not its value: use add_blob()");
  add_value_bytes(std::move(name), static_cast<void*>(value), sizeof(T));
}

}  // namespace outlast
