"""The Python side of './dev bench sdk' (bench/sdk_bench.py). Its state is one array for each line of SIZES.

usage: sdk_trainer.py copies SIZES REPEATS GO            save() and save_async(), as outlast-bench-sdk does it
       sdk_trainer.py torch-save SIZES REPEATS FOLDER    torch.save() to a file, on the disk when it ends
       sdk_trainer.py async-save SIZES REPEATS FOLDER    torch.distributed.checkpoint.async_save(): until it returns

Prints one line of JSON, all times in seconds.
"""
import ctypes
import json
import os
import pathlib
import shutil
import sys
import time


def sizes_of(path):
    return [int(line) for line in pathlib.Path(path).read_text().split()]


def time_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure_copies(sizes, repeats, go):
    import numpy

    import outlast

    rng = numpy.random.default_rng(1)
    arrays = [rng.random(size // 4, dtype=numpy.float32) for size in sizes]
    snapshots = outlast.Snapshots()
    for number, array in enumerate(arrays):
        snapshots.add(f"tensor{number}", array)
    step = 0
    for step in (1, 2):  # both slots once
        snapshots.save(step)
    private = numpy.zeros(sum(sizes), dtype=numpy.uint8)
    pieces, at = [], private.ctypes.data
    for array in arrays:
        pieces.append((at, array.ctypes.data, array.nbytes))
        at += array.nbytes
    print("warm", flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)

    def copy():
        for piece in pieces:
            ctypes.memmove(*piece)

    # Forward and backward: longer than twice the copy, in memory of its own, on one thread.
    left, right = rng.random((192, 192), dtype=numpy.float32), rng.random((192, 192), dtype=numpy.float32)
    product = numpy.empty_like(left)

    def compute(rounds):
        for _ in range(rounds):
            numpy.matmul(left, right, out=product)

    copy()
    compute(100)
    rounds = 1 + int(2.5 * time_of(copy) / time_of(lambda: compute(100)) * 100)
    found = {name: [] for name in ("memcpy", "save", "begin", "wait", "alone", "beside")}
    for _ in range(repeats):
        found["memcpy"].append(time_of(copy))
        step += 1
        found["save"].append(time_of(lambda: snapshots.save(step)))
        step += 1
        found["begin"].append(time_of(lambda: snapshots.save_async(step)))
        found["beside"].append(time_of(lambda: compute(rounds)))
        found["wait"].append(time_of(snapshots.before_update))
        found["alone"].append(time_of(lambda: compute(rounds)))
    print(json.dumps({"agent": snapshots.has_agent, **found}), flush=True)
    snapshots.done()


def torch_state(sizes):
    import torch

    generator = torch.Generator().manual_seed(1)
    return {f"tensor{number}": torch.rand(size // 4, generator=generator) for number, size in enumerate(sizes)}


def measure_torch_save(sizes, repeats, folder):
    import torch

    state, path = torch_state(sizes), os.path.join(folder, "state.pt")

    def save():
        with open(path, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())

    seconds = []
    for _ in range(repeats):
        os.sync()  # or what others have written would be waited for, too
        seconds.append(time_of(save))
        os.unlink(path)
    print(json.dumps({"torch": torch.__version__, "seconds": seconds}), flush=True)


def measure_async_save(sizes, repeats, folder):
    import torch
    import torch.distributed
    from torch.distributed import checkpoint
    from torch.distributed.checkpoint import staging

    state = torch_state(sizes)
    rendezvous = os.path.join(folder, "rendezvous")
    torch.distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=0, world_size=1)
    # As it comes it makes new memory for each. One stager for all keeps its memory, as our arena does; in the
    # background it copies beside training, as save_async() does.
    found = {"as it comes": [], "kept": [], "background": []}
    stagers = {"kept": [False] * 4, "background": [False, False, True, False]}
    left = torch.rand(192, 192)
    for name, seconds in found.items():
        target = os.path.join(folder, "checkpoint")
        words = {}
        if name in stagers:
            words["async_stager"] = staging.DefaultStager(staging.StagingOptions(*stagers[name]))
        for _ in range(repeats + 1):
            begin = time.perf_counter()
            answer = checkpoint.async_save(state, checkpoint_id=target, **words)
            visible = time.perf_counter() - begin
            if name == "background":
                until = time.perf_counter() + 2.5 * found["kept"][-1]
                while time.perf_counter() < until:
                    left @ left
                visible += time_of(answer.staging_completion.result)
            seconds.append(visible)
            getattr(answer, "upload_completion", answer).result()
            shutil.rmtree(target)
        del seconds[0]  # what is imported and made in the first is not counted
    torch.distributed.destroy_process_group()
    print(json.dumps({"torch": torch.__version__, **found}), flush=True)


def main():
    what, sizes, repeats, where = sys.argv[1:]
    measure = {"copies": measure_copies, "torch-save": measure_torch_save, "async-save": measure_async_save}[what]
    measure(sizes_of(sizes), int(repeats), where)


if __name__ == "__main__":
    main()
