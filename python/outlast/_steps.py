"""The loop over steps that the helpers share."""

from __future__ import annotations

from typing import Iterator

import outlast


class SteppingSnapshots(outlast.Snapshots):
    """Snapshots that also lead the loop. Confined to its owner."""

    def steps(self, total: int) -> Iterator[int]:
        """The numbers of the steps that are left, of `total`, after resuming; what belongs to the state must be
        registered by then. A step is done when the next one is asked for. The state after the last one is always
        saved, so that a run that is started again finds nothing left to do."""
        done = self.resume() or 0
        while done < total:
            yield done
            done += 1
            self.step_done(done, total)
