"""For XGBoost.

    survivor = outlast.xgboost.OutlastCallback(num_boost_round=200)
    booster = xgboost.train(params, data, callbacks=[survivor], **survivor.rest())
"""

from __future__ import annotations

from typing import Any, Optional

import xgboost

from outlast import Snapshots

_CAPACITY = 64 << 20


class OutlastCallback(xgboost.callback.TrainingCallback):
    """Snapshots of the booster after a round. A resumed training has the trees of one that was not interrupted, bit for
    bit, without sampling. With sampling (subsample, colsample_…) it has others, as good: XGBoost lets nobody have the
    state of its generator. What other callbacks have counted (early stopping) begins anew.

    A booster may have `capacity` bytes: memory is set aside for it. `options` are those of outlast.Snapshots."""

    def __init__(self, num_boost_round: int, capacity: int = _CAPACITY, **options: Any):
        super().__init__()
        self._total = num_boost_round
        self._booster: Optional[xgboost.Booster] = None
        self.snapshots = Snapshots(**options)
        self.snapshots.add_blob("booster", self._get, self._set, capacity)

    def _get(self) -> bytes:
        return bytes(self._booster.save_raw("ubj"))

    def _set(self, data: bytes) -> None:
        self._booster = xgboost.Booster()
        self._booster.load_model(bytearray(data))

    def rest(self) -> dict:
        """For train(): how many rounds are left, and the booster that they continue."""
        done = self.snapshots.resume() or 0
        return {"num_boost_round": self._total - done, "xgb_model": self._booster}

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._booster = model
        latest = {f"{data}_{name}": values[-1] for data, log in evals_log.items() for name, values in log.items()}
        self.snapshots.metrics(**latest)
        self.snapshots.step_done(model.num_boosted_rounds(), self._total)
        return False

    def after_training(self, model: Any) -> Any:
        self._booster = model
        self.snapshots.save(model.num_boosted_rounds())
        return model
