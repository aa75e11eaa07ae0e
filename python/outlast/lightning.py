"""For Lightning.

    sampler = outlast.torch.ResumableSampler(dataset, batch_size=32)
    trainer = Trainer(…, callbacks=[outlast.lightning.OutlastCallback(sampler)])
    trainer.fit(module, sampler.loader(dataset))
"""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch import Callback
except ImportError:  # the same under its older name
    from pytorch_lightning import Callback

from outlast.torch import Snapshots

_LOOPS_BYTES_MAX = 4 << 20


class OutlastCallback(Callback):
    """Snapshots of module, optimizers, schedulers, loops, the other callbacks and the random generators; resumes when
    fit() starts. In the middle of an epoch the place in the data is known only by a ResumableSampler; without one, take
    short epochs. Then a resumed training has the weights of one that was not interrupted, bit for bit.

    `options` are those of outlast.Snapshots. For strategies that have the whole module in each process (one device,
    DDP)."""

    def __init__(self, sampler: Any = None, **options: Any):
        self._sampler, self._options = sampler, options
        self.snapshots: Optional[Snapshots] = None
        self._step = 0

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        parts: dict[str, Any] = {"model": pl_module}
        for number, optimizer in enumerate(trainer.optimizers):
            parts[f"optimizer_{number}"] = optimizer
        for number, config in enumerate(trainer.lr_scheduler_configs):
            parts[f"scheduler_{number}"] = config.scheduler
        parts["precision"] = trainer.precision_plugin
        if self._sampler is not None:
            parts["sampler"] = self._sampler
        snapshots = self.snapshots = Snapshots(parts=parts, **self._options)
        others = {callback.state_key: callback for callback in trainer.callbacks if callback is not self}
        snapshots.add_object("loops", trainer.fit_loop.state_dict, trainer.fit_loop.load_state_dict, _LOOPS_BYTES_MAX)
        snapshots.add_object(
            "callbacks",
            lambda: {key: callback.state_dict() for key, callback in others.items()},
            lambda states: [others[key].load_state_dict(state) for key, state in states.items() if key in others],
            _LOOPS_BYTES_MAX,
        )
        snapshots.resume()
        self._step = trainer.global_step

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        # Between two steps there are gradients that no snapshot has.
        if trainer.global_step == self._step:
            return
        self._step = trainer.global_step
        total = trainer.estimated_stepping_batches
        self.snapshots.progress(self._step, epoch=float(trainer.current_epoch))
        self.snapshots.metrics(**trainer.callback_metrics)
        self.snapshots.step_done(self._step, int(total) if total not in (-1, float("inf")) else None)

    def on_train_end(self, trainer: Any, *_: Any) -> None:
        self.snapshots.save(trainer.global_step)

    def teardown(self, *_: Any, **__: Any) -> None:
        if self.snapshots is not None:
            self.snapshots.close()
