"""Trains a tiny language model with the Trainer of Hugging Face; survives with three lines of outlast.

    python3 examples/sdk/transformers_sdk.py --steps 60
    outlast run -- python3 examples/sdk/transformers_sdk.py --steps 60

The model is made up from a configuration and the text from a seed: nothing is fetched.
"""

import argparse
import hashlib
import tempfile
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

import outlast.transformers  # outlast


def make_up_text():
    """Counting up and down, in a small alphabet."""
    generator = torch.Generator().manual_seed(1)
    begins = torch.randint(0, 32, (80, 1), generator=generator)
    steps = torch.randint(0, 2, (80, 1), generator=generator) * 2 - 1
    rows = (begins + steps * torch.arange(16)) % 32
    return [{"input_ids": row, "labels": row} for row in rows]


class Telling(TrainerCallback):
    def __init__(self, step_ms):
        self._step_ms = step_ms

    def on_log(self, args, state, control, logs=None, **_):
        if "loss" in (logs or {}):
            time.sleep(self._step_ms / 1000)
            print(f"step {state.global_step}/{state.max_steps} loss {logs['loss']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()
    interval = options.snapshot_seconds

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2,
                                       bos_token_id=0, eos_token_id=0))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, max_steps=options.steps, per_device_train_batch_size=8, warmup_steps=5,
                                      logging_steps=1, save_strategy="no", report_to="none", disable_tqdm=True,
                                      use_cpu=True, seed=0)
        trainer = Trainer(model, arguments, train_dataset=make_up_text(), callbacks=[Telling(options.step_ms)])
        survivor = outlast.transformers.OutlastCallback(trainer, file_interval=interval)  # outlast
        trainer.train(resume_from_checkpoint=survivor.resume())  # outlast

    weights = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
