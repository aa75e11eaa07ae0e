#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/reporter.h"
#include "agent/restore_folder.h"
#include "agent/snapshot_host.h"
#include "agent/trainer.h"
#include "agent/tree_watcher.h"
#include "agent/uploader.h"
#include "agent/work_folder.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "job/hazard.h"
#include "job/log_entry.h"
#include "job/notice_plan.h"
#include "job/progress_reader.h"
#include "job/retry_budget.h"
#include "job/save_schedule.h"
#include "job/spec.h"
#include "job/trainer_end.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/inbox.h"
#include "sys/world.h"

namespace outlast::agent {

// Who watches: a person's screen, or whatever reads our output. Called from several threads.
class Front {
 public:
  virtual ~Front() = default;
  // May wait, as long as whoever reads does: the trainer waits with it, as it would without us.
  // Once `ctx` is stopped nobody waits any more, and the piece may be lost.
  virtual void printed(bool is_err, std::string_view piece, const sys::CallContext& ctx) = 0;
  // Never waits.
  virtual void happened(const Event& event) = 0;
  virtual void stands(const Beat& beat) = 0;
  // How often stands() is wanted; kNever for hardly ever.
  virtual Duration stands_every() const = 0;
};

struct AttemptOptions {
  job::Spec spec = {};
  TrainerCommand trainer = {};
  std::string command = {};  // the same for people
  std::string version = {};
  AgentId agent = {};
  trainer_files::Recognise recognise = trainer_files::Recognise::kLayouts;
  trainer_files::ListingOptions listing = {};
  // What the trainer's end means.
  std::function<job::TrainerEnd(const job::TrainerExit&, bool told_to_leave, const job::ExitCodes&)>
      judge = job::judge_end;
  // What a snapshot of the job is.
  NewestSnapshot newest_snapshot = newest_of_all;
  // Once the job is done, before that is written: what has to be safe by then.
  std::function<Result<void>(const sys::CallContext&)> before_done = {};
};

struct AttemptEnding {
  AttemptOutcome outcome = AttemptOutcome::kLeft;
  std::string why = {};
  bool interrupted = false;  // by a person's Ctrl-C
  // Done, but what the trainer left at the end is on this machine alone.
  bool is_unsaved = false;
  std::optional<ErrorCode> broken_by = {};
};

// For files to come to rest before a trainer is stopped at once.
inline constexpr Duration kRestMax = std::chrono::seconds(5);
// For what a trainer with an SDK said last to reach us, after its end.
inline constexpr Duration kLastWordsMax = std::chrono::seconds(2);
// How often something that will not work later either is tried at the end of a trainer's life.
inline constexpr std::uint64_t kFinalTriesMax = 5;

// One attempt: an actor that owns all decisions. Everything that happens reaches its inbox; the
// threads around it only carry. Confined to its owner.
class Attempt {
 public:
  struct Parts {
    sys::World& world;
    store::ObjectStore& root;
    WorkFolder& work;
    Front& front;
  };
  Attempt(const Parts& parts, AttemptOptions options, Begun begun);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Restores, trains and saves until the attempt is over.
  AttemptEnding run(std::vector<std::unique_ptr<notice::NoticeSource>> sources);

 private:
  // --- What reaches the inbox. Those of an earlier life of the trainer are ignored. ---
  struct TrainerEnded {
    std::uint64_t life = 0;
    Result<job::TrainerExit> exit;
  };
  struct Seen {
    std::uint64_t life = 0;
    TreeSeen seen = {};
  };
  struct NoticeChanged {};
  struct SnapshotNews {};
  struct FolderRestored {
    Result<RestoredFolder> restored;
  };
  struct Trouble {
    std::string kind = {};
    Error error;
  };
  using Message = std::variant<TrainerEnded, Seen, NoticeChanged, SnapshotNews, FolderRestored,
                               Trouble, SaveReport, TurnNews, EndReport>;
  void post(Message message);
  void handle(TrainerEnded message);
  void handle(Seen message);
  void handle(NoticeChanged message);
  void handle(SnapshotNews message);
  void handle(FolderRestored message);
  void handle(const Trouble& message);
  void handle(const SaveReport& report);
  void handle(const TurnNews& news);
  void handle(const EndReport& report);

  enum class Phase {
    kRunning,    // the trainer runs
    kLooking,    // it has ended; one last look at its files
    kSettling,   // what it left is being saved
    kPausing,    // before it is started again
    kRestoring,  // the folder is made what the newest checkpoint says
    kEnding,     // the job's last entry is being written
    kOver,
  };

  // --- attempt_life.cc: a life of the trainer ---
  Result<RestoredFolder> restore(checkpoint::Checkpoints& checkpoints, const sys::CallContext& ctx);
  Result<void> start_trainer(const RestoredFolder& restored);
  TrainerCommand trainer_command(const RestoredFolder& restored) const;
  void begin_life();
  void log_beginning(const RestoredFolder& restored);

  // --- attempt.cc: what to do now, and when to look again ---
  void decide();
  MonoTime next_wake() const;

  // --- attempt_snapshots.cc: what the trainer has in memory, by an SDK ---
  void open_snapshots();
  void look_at_snapshots();
  bool can_ask_for_snapshot() const;
  void ask_for_snapshot(const SnapshotHost::Ask& ask);
  void tell_if_without_snapshot();
  // Whether a trainer that has failed is started again with what it left in memory.
  bool goes_on_from_memory() const;
  // Whether what such a trainer left is to be saved before we leave.
  bool is_worth_saving_first() const;

  // --- attempt_saves.cc: when to save, and what became of it ---
  // The newest whole state of the trainer.
  struct Held {
    bool has_files = false;
    std::uint64_t fingerprint = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> step = {};
    std::optional<WallTime> written = {};
  };
  std::optional<Held> held() const;
  bool has_unsaved() const;
  void save_if_due();
  void save(const std::string& why);
  void ask_to_save();
  // Whether what was seen last was written after the trainer was asked for it.
  bool is_answer() const;
  job::SaveFacts save_facts() const;
  job::NoticeFacts notice_facts() const;
  std::uint64_t unsaved_bytes() const;
  void tell_findings();
  void tell_if_unfound();

  // --- attempt_leaving.cc: bad news ---
  struct Leaving {
    MonoTime since = {};
    MonoTime ends = {};
    bool at_once = false;          // nobody gains by training on
    bool reached_trainer = false;  // whoever says so may have told it
    AttemptOutcome outcome = AttemptOutcome::kLeft;
    std::string why = {};
    std::optional<job::NoticePlan> plan = {};  // the last one that was told of
  };
  void look_at_notice();
  void look_at_hint();
  void look_at_place();
  void release_machine();
  void write_notice_file();
  void leave_when_due(Leaving& leaving);
  void stop_trainer();
  bool is_too_late_to_start() const;
  void end_leaving();
  MonoTime kill_time(const Leaving& leaving) const;
  std::optional<MonoTime> last_chance() const;
  bool is_at_rest(const Leaving& leaving) const;

  // --- attempt_end.cc: what the trainer's end means ---
  void settle();
  void judge();
  bool is_told_at_end() const;
  job::TrainerEnd trainer_end() const;
  // How this life ended, for the record and the retries.
  job::AttemptEnd life_end(job::EndMeaning meaning) const;
  // Why the trainer's last state is not in the root; "" if it is.
  std::string why_unsaved() const;
  void end_job(job::EntryKind kind, const std::string& why);
  void end_attempt(AttemptOutcome outcome, const std::string& why,
                   std::optional<ErrorCode> broken_by = {});
  void finish(const AttemptEnding& ending);

  // --- attempt_view.cc: what others see ---
  void tell(EventLevel level, std::string kind, std::string sentence, Json facts = {});
  Beat beat() const;
  void publish();
  job::Progress progress() const;

  const Parts parts_;
  const AttemptOptions options_;
  const job::Epoch epoch_;
  const MonoTime began_;
  AttemptRecord record_;
  job::HazardModel hazard_;

  store::ObjectStore& job_store_;  // of the checkpoints that the uploader owns
  sys::Inbox<Message> inbox_;
  std::atomic<bool> has_snapshot_news_ = false;  // that is in the inbox
  std::unique_ptr<SnapshotHost> snapshots_;      // none: trainers with an SDK cannot be served
  Uploader uploader_;
  Reporter reporter_;
  notice::NoticeBoard board_;
  std::unique_ptr<notice::NoticeWatch> notices_;

  mutable Mutex progress_mutex_;
  job::ProgressReader progress_ OUTLAST_GUARDED_BY(progress_mutex_);

  // The trainer's life.
  Phase phase_ = Phase::kPausing;
  std::uint64_t life_ = 0;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<TreeWatcher> watcher_;  // asks the trainer
  MonoTime now_ = {};
  MonoTime life_began_ = {};
  job::TrainerExit exit_;  // once it has ended
  MonoTime exited_ = {};
  std::optional<TreeSeen> seen_;
  MonoTime seen_at_ = {};       // this very state, for the first time
  MonoTime looked_ = {};        // when we heard of the last look
  bool has_own_files_ = false;  // the trainer, in this life or from the one before
  bool ended_well_ = false;
  int last_looks_ = 0;
  bool is_unsaved_ = false;  // what it left at its end
  std::optional<MonoTime> unsaved_since_;
  trainer_files::SetProgress restored_progress_;
  bool resume_judged_ = true;
  std::optional<MonoTime> asked_to_save_;
  std::optional<MonoTime> asked_to_leave_;
  WallTime asked_at_ = {};  // for either
  bool asked_by_term_ = false;
  bool killed_ = false;
  MonoTime gone_by_ = {};    // who was killed; from then on it is not waited for
  std::stop_source unread_;  // what it prints need not be shown any more
  bool found_told_ = false;
  bool unfound_told_ = false;
  bool settle_told_ = false;  // that its last state cannot be saved
  std::set<std::string> told_lines_;
  MonoTime restart_at_ = {};

  // Snapshots.
  std::optional<JobSnapshot> snapshot_;           // the newest of the job
  WallTime snapshot_taken_ = {};                  // when we saw it first
  bool has_new_snapshot_ = false;                 // in this life
  std::uint64_t snapshot_asked_ = 0;              // by which number in this life; 0: not at all
  std::uint64_t step_asked_ = 0;                  // ahead of time, because one is due then
  std::optional<std::uint64_t> saving_snapshot_;  // its fingerprint, in what is on its way
  std::optional<std::uint64_t> saved_snapshot_;   // the same of what is committed
  std::optional<job::LogEntry> restored_entry_;
  bool is_from_memory_ = false;  // the next life

  // Saves.
  std::optional<std::uint64_t> saving_;       // the fingerprint of what is on its way
  std::optional<std::uint64_t> saved_;        // the same of what was committed in this life
  std::optional<std::uint64_t> not_to_save_;  // what could not be saved as it was
  bool saving_answer_ = false;                // what is on its way, is_answer()
  bool saving_hinted_ = false;                // what is on its way, because of a hint
  std::string saving_why_;
  std::optional<WallTime> saving_written_;  // when the trainer had written the newest of it
  bool saved_answer_ = false;               // the same of what was committed
  std::optional<Beat::Committed> committed_;
  MonoTime last_save_ = {};
  std::optional<std::uint64_t> last_save_epoch_;
  bool saved_in_attempt_ = false;
  std::optional<Duration> ask_cost_;  // from asking to a complete state
  std::optional<Duration> upload_time_;
  std::optional<Duration> commit_time_;
  std::optional<double> bandwidth_;
  double new_share_ = 1;
  std::uint64_t save_failures_ = 0;
  std::uint64_t restore_failures_ = 0;
  std::uint64_t final_failures_ = 0;  // after the trainer's end, of what will not work later either
  MonoTime save_again_at_ = {};
  std::string trouble_;
  std::optional<MonoTime> restless_since_;  // since when no state was complete
  bool restless_told_ = false;

  // Bad news.
  std::optional<notice::Notice> notice_;
  std::optional<notice::Notice> hint_;
  bool hinted_ = false;          // and nothing was saved since
  bool is_notice_told_ = false;  // to the trainer, by its file
  std::optional<Leaving> leaving_;
  std::optional<TurnNews> turn_;

  Uploader::EndOrder last_entry_;  // while kEnding
  MonoTime end_again_at_ = {};
  bool ending_in_flight_ = false;
  std::optional<AttemptEnding> ending_;
};

}  // namespace outlast::agent
