"""What a Python trainer uses to outlast its machine: see Snapshots."""

from outlast._errors import Leave, SnapshotError
from outlast._snapshots import Notice, Snapshots

__all__ = ["Leave", "Notice", "SnapshotError", "Snapshots"]
__version__ = "0.1.0"
