#include "stand_in/script_player.h"

#include <stop_token>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "stand_in/metadata_stand_in.h"
#include "stand_in/script.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::stand_in {

ScriptPlayer::ScriptPlayer(Script script, MetadataStandIn& stand_in, sys::Clock& clock,
                           sys::Threads& threads, Told told) {
  const MonoTime start = clock.mono_now();
  thread_ = threads.spawn("script", [script = std::move(script), told = std::move(told), start,
                                     &stand_in, &clock](const std::stop_token& stop) {
    for (const ScriptLine& line : script) {
      if (!clock.sleep_until(saturating_add(start, line.at), {.stop = stop})) return;
      const Result<void> taken = stand_in.happen(line.happening);
      if (told) told(line.happening, taken);
    }
  });
}

}  // namespace outlast::stand_in
