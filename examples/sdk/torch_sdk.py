"""Trains a small network with PyTorch, dropout, a scheduler and shuffled data; survives with five lines of outlast.

    python3 examples/sdk/torch_sdk.py --steps 200
    outlast run -- python3 examples/sdk/torch_sdk.py --steps 200

Killed at any moment and started again, it ends with the weights of a run that was not. The package must be installed
(pip install ./python), or be on PYTHONPATH.
"""

import argparse
import hashlib
import random
import time

import numpy
import torch
from torch import nn

import outlast.torch  # outlast


def make_up_data():
    """Points on a plane, and which of four rings each lies on."""
    generator = torch.Generator().manual_seed(1)
    points = torch.randn(2000, 2, generator=generator)
    return torch.utils.data.TensorDataset(points, (points.norm(dim=1) * 2).long().clamp(max=3))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--width", type=int, default=64, help="of the network")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()
    interval = options.snapshot_seconds

    torch.set_num_threads(1)  # the order of additions, and so the last bit, depends on it
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    width = options.width
    model = nn.Sequential(nn.Linear(2, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2),
                          nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    data = make_up_data()
    sampler = outlast.torch.ResumableSampler(data, batch_size=32)  # outlast
    batches = outlast.torch.endless(sampler.loader(data))  # outlast
    snapshots = outlast.torch.Snapshots(model, optimizer, scheduler, sampler, file_interval=interval)  # outlast

    for step in snapshots.steps(options.steps):  # outlast
        points, rings = next(batches)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), rings)
        loss.backward()
        optimizer.step()
        scheduler.step()
        time.sleep(options.step_ms / 1000)
        print(f"step {step + 1}/{options.steps} loss {loss.item():.6f}", flush=True)

    weights = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
