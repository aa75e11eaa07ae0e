"""What trainers give as numbers: Python's, NumPy's, torch's."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional

from outlast._errors import SnapshotError

_STEPS_MAX = 1 << 53


def step_number(step: Any) -> int:
    """SnapshotError if it is none."""
    try:
        number = operator.index(step)
    except TypeError:
        raise SnapshotError(f"{step!r} is no number of a step") from None
    if not 0 <= number < _STEPS_MAX:
        raise SnapshotError(f"{step!r} is no number of a step: it must be from 0 to 2^53")
    return number


def finite(value: Any) -> Optional[float]:
    """None if it is no finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return number if math.isfinite(number) else None
