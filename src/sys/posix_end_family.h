#pragma once

namespace outlast::sys {

// Kills everybody in the process group `group`, and whatever descends from them, in whichever group
// or session it is by now: launchers like to give each of their workers a session of its own. Only
// the caller is spared.
//
// First all of them are stopped, again and again until nobody new is found: who is stopped can
// neither start others nor end, so that nobody slips through, and no number comes to mean somebody
// else before it is killed. What descends from somebody who had ended before is not found.
//
// For the keeper: makes nothing but system calls, and needs no memory but its own.
void end_family(int group);

}  // namespace outlast::sys
