"""Which process of the job this is."""

from __future__ import annotations

import os
from typing import Optional

from outlast._errors import SnapshotError

_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
)
# Slurm's numbers of what is no step of srun: a batch script, an interactive shell, what was there before. All have
# SLURM_PROCID=0 and the job's SLURM_NTASKS.
_NO_STEP_FROM = 0xFFFFFFF0


def _is_slurm_step() -> bool:
    step = os.environ.get("SLURM_STEP_ID", "")
    return step.isdecimal() and int(step) < _NO_STEP_FROM


def find_rank(rank: Optional[int], ranks: Optional[int]) -> tuple[int, int]:
    """As it was said, or else as the environment says, or else 0 of 1."""
    said = "what was given"
    if (rank is None) != (ranks is None):
        raise SnapshotError("only one of rank and ranks is given: give both, or neither")
    if rank is None or ranks is None:
        for variables in _VARIABLES:
            if variables[0] == "SLURM_PROCID" and not _is_slurm_step():
                continue
            if all(os.environ.get(variable) for variable in variables):
                try:
                    found = [int(os.environ[variable]) for variable in variables]
                except ValueError:
                    raise SnapshotError(f"{' and '.join(variables)} are set, and are no numbers") from None
                said = " and ".join(variables)
                break
        else:
            found = [0, 1]
        rank, ranks = found
    if not 0 <= rank < ranks:
        raise SnapshotError(f"this is rank {rank} of {ranks}, which cannot be: look at {said}")
    return rank, ranks
