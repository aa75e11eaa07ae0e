from __future__ import annotations


class SnapshotError(RuntimeError):
    """A call that cannot be done as it was made, or a state that does not fit: what, where, and what to do."""


class Leave(SystemExit):
    """This machine ends and the snapshot is taken: ends the process with the exit code that outlast expects."""
