"""Trains on several processes with PyTorch's DistributedDataParallel; survives with five lines of outlast.

    python3 examples/sdk/torch_ddp.py --ranks 4 --steps 200
    outlast run -- python3 examples/sdk/torch_ddp.py --ranks 4 --steps 200
    torchrun --nproc-per-node 4 examples/sdk/torch_ddp.py --steps 200

Each rank has a snapshot of its own; they count when all ranks have one of the same step. Exits with the code of the
first rank that does not end with 0: by that, outlast knows that the ranks left because it asked them to.
"""

import argparse
import hashlib
import multiprocessing
import multiprocessing.connection
import os
import random
import socket
import sys
import time

import numpy
import torch
import torch.distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import outlast.torch  # outlast


def make_up_data():
    """Points on a plane, and which of four rings each lies on."""
    generator = torch.Generator().manual_seed(1)
    points = torch.randn(2000, 2, generator=generator)
    return torch.utils.data.TensorDataset(points, (points.norm(dim=1) * 2).long().clamp(max=3))


def train(options):
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    torch.set_num_threads(1)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 4))
    # Without it the first step after a start adds up in another order than the others: the last bit would tell.
    model = DistributedDataParallel(model, find_unused_parameters=True)
    torch.manual_seed(rank)  # each has its own dropout
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = make_up_data()
    sampler = outlast.torch.ResumableSampler(data, batch_size=16)  # outlast
    batches = outlast.torch.endless(sampler.loader(data))  # outlast
    snapshots = outlast.torch.Snapshots(model, optimizer, sampler, every_steps=options.every_steps)  # outlast

    for step in snapshots.steps(options.steps):  # outlast
        points, rings = next(batches)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), rings)
        loss.backward()
        optimizer.step()
        time.sleep(options.step_ms / 1000)
        if rank == 0:
            print(f"step {step + 1}/{options.steps} loss {loss.item():.6f}", flush=True)

    weights = b"".join(value.numpy().tobytes() for value in model.module.state_dict().values())
    results = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(results, hashlib.sha256(weights).hexdigest())
    if rank == 0:
        print("result", *sorted(set(results)))
    return model


def run_rank(options):
    """Ends the process while the model is still there: taking it down may wait for itself in PyTorch before 2.0."""
    try:
        kept = train(options)
        code = 0 if kept else 1
    except SystemExit as leave:
        kept = leave.__traceback__
        code = leave.code
    sys.stdout.flush()
    os._exit(code)


def start_rank(rank, port, options):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(options.ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    run_rank(options)


def start_all(options):
    """What torchrun does, without giving up the exit code."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    spawn = multiprocessing.get_context("spawn")
    ranks = [spawn.Process(target=start_rank, args=(rank, port, options), daemon=True) for rank in range(options.ranks)]
    for process in ranks:
        process.start()
    running = set(ranks)
    while running:
        multiprocessing.connection.wait([process.sentinel for process in running])
        for process in [process for process in running if not process.is_alive()]:
            running.remove(process)
            process.join()
            if process.exitcode not in (0, 75):  # the others would wait for it
                for other in running:
                    other.terminate()
    return next((process.exitcode for process in ranks if process.exitcode), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--every-steps", type=int, default=20, help="between two snapshots")
    options = parser.parse_args()
    if "RANK" in os.environ:
        run_rank(options)
    code = start_all(options)
    return code if code >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
