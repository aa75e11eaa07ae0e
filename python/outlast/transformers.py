"""For the Trainer of Hugging Face's transformers.

    survivor = outlast.transformers.OutlastCallback(trainer)
    trainer.train(resume_from_checkpoint=survivor.resume())
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from typing import Any, Optional

import torch
from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from outlast import SnapshotError
from outlast.torch import Snapshots

_STATE_BYTES_MAX = 16 << 20  # its log grows


class OutlastCallback(TrainerCallback):
    """Adds itself to the trainer, which must have its model on its device, as it has after its constructor. A resumed
    training has the weights of one that was not interrupted, bit for bit, where its data set draws no random numbers
    of its own; the running mean in the next log line begins anew, as after any checkpoint of the Trainer. What belongs to
    the step of the snapshot itself (its evaluation, its log line) is not repeated.

    `options` are those of outlast.Snapshots. Not for DeepSpeed and FSDP, which divide the state themselves."""

    def __init__(self, trainer: Any, **options: Any):
        if getattr(trainer, "is_deepspeed_enabled", False) or getattr(trainer, "is_fsdp_enabled", False):
            raise SnapshotError("DeepSpeed and FSDP divide the state themselves: let the Trainer save its checkpoints")
        self._trainer = trainer
        trainer.create_optimizer()
        self.snapshots = Snapshots(trainer.model, trainer.optimizer, **options)
        self._scheduler_state: Any = None
        self._state_text = ""
        self._generators: Any = None
        self._folder: Optional[tempfile.TemporaryDirectory] = None
        add = self.snapshots.add_object
        # The scheduler comes into being in train() only, later than resume().
        add("scheduler", lambda: trainer.lr_scheduler.state_dict(), self._keep_scheduler, 1 << 20)
        add("trainer", self._trainer_state, self._keep_trainer_state, _STATE_BYTES_MAX)
        scaler = getattr(trainer.accelerator, "scaler", None)
        if scaler is not None:
            add("scaler", scaler.state_dict, scaler.load_state_dict, 1 << 20)
        trainer.add_callback(self)

    def _keep_scheduler(self, state: Any) -> None:
        self._scheduler_state = state

    def _keep_trainer_state(self, text: str) -> None:
        self._state_text = text

    def _trainer_state(self) -> str:
        trainer = self._trainer
        state = dataclasses.asdict(trainer.state)
        for callback in [*trainer.callback_handler.callbacks, trainer.control]:
            if isinstance(callback, ExportableState):
                state["stateful_callbacks"][type(callback).__name__] = callback.state()
        return json.dumps(state)

    def resume(self) -> Optional[str]:
        """For train(): a folder that looks like a checkpoint of the Trainer, with which it finds its place in the data;
        None if there is no snapshot."""
        if self.snapshots.resume() is None:
            return None
        self._folder = tempfile.TemporaryDirectory(prefix="outlast-resume-")
        folder, model = self._folder.name, self._trainer.model
        if hasattr(model, "save_pretrained"):
            model.save_pretrained(folder)
        else:
            torch.save(model.state_dict(), os.path.join(folder, "pytorch_model.bin"))
        with open(os.path.join(folder, "trainer_state.json"), "w", encoding="utf-8") as file:
            file.write(self._state_text)
        return folder

    # --- What the Trainer calls

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._folder is None:
            return
        # Once more: making a scheduler has set the optimizer's rate, and preparing the optimizer has copied its state.
        self.snapshots.resume()
        self._trainer.lr_scheduler.load_state_dict(self._scheduler_state)
        self._generators = self.snapshots.generators()
        self._folder.cleanup()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._generators is None:
            return
        self.snapshots.set_generators(self._generators)
        if float(state.epoch or 0).is_integer():
            self._generators = None

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # In the middle of an epoch, beginning to load data has drawn numbers that an uninterrupted run did not draw.
        if self._generators is not None:
            self.snapshots.set_generators(self._generators)
            self._generators = None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.snapshots.step_done(state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[dict] = None, **_: Any) -> None:
        self.snapshots.metrics(**(logs or {}))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.snapshots.save(state.global_step)
