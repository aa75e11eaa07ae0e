"""Trains a small network with Lightning, with validation and a scheduler; survives with five lines of outlast.

    python3 examples/sdk/lightning_sdk.py --steps 120
    outlast run -- python3 examples/sdk/lightning_sdk.py --steps 120
"""

import argparse
import hashlib
import time

import lightning
import torch
from torch import nn

import outlast.lightning  # outlast
import outlast.torch  # outlast


def make_up_data(count, seed):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(count, 2, generator=generator)
    return torch.utils.data.TensorDataset(points, (points.norm(dim=1) * 2).long().clamp(max=3))


class Rings(lightning.LightningModule):
    def __init__(self, steps, step_ms):
        super().__init__()
        self._steps, self._step_ms = steps, step_ms
        self.net = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        time.sleep(self._step_ms / 1000)
        print(f"step {self.trainer.global_step + 1}/{self._steps} loss {loss.item():.6f}", flush=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        return {"optimizer": optimizer, "lr_scheduler": scheduler}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = Rings(options.steps, options.step_ms)
    data = make_up_data(500, 1)
    validation = torch.utils.data.DataLoader(make_up_data(100, 2), batch_size=50)
    sampler = outlast.torch.ResumableSampler(data, batch_size=16)  # outlast
    survivor = outlast.lightning.OutlastCallback(sampler, file_interval=options.snapshot_seconds)  # outlast
    trainer = lightning.Trainer(max_steps=options.steps, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, callbacks=[survivor])
    trainer.fit(module, sampler.loader(data), validation)  # outlast

    weights = b"".join(value.numpy().tobytes() for value in module.state_dict().values())
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
