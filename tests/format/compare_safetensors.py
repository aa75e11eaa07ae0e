"""Compares our safetensors files to those of Python's package, both ways.

usage: compare_safetensors.py SAFETENSORS_PEER [--cases N] [--seed N]

Random files, the same ones for one seed; the first that differs is shown.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import safetensors
import safetensors.numpy

# As the package calls them when it writes: as the file does, and their bits.
DTYPES = {
    "bool": ("BOOL", 8), "uint8": ("U8", 8), "int8": ("I8", 8),
    "float8_e5m2": ("F8_E5M2", 8), "float8_e4m3fn": ("F8_E4M3", 8), "float8_e8m0fnu": ("F8_E8M0", 8),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 8), "float8_e4m3fnuz": ("F8_E4M3FNUZ", 8),
    "int16": ("I16", 16), "uint16": ("U16", 16), "float16": ("F16", 16), "bfloat16": ("BF16", 16),
    "int32": ("I32", 32), "uint32": ("U32", 32), "float32": ("F32", 32),
    "complex64": ("C64", 64), "float64": ("F64", 64), "int64": ("I64", 64), "uint64": ("U64", 64),
}
LETTERS = "ab.é\"\\\n/ 0漢"


def make_case(draw):
    tensors = []
    for number in range(draw.randrange(8)):
        dtype = draw.choice(list(DTYPES))
        shape = [draw.randrange(5) for _ in range(draw.randrange(4))]
        elements = int(numpy.prod(shape, dtype=int))
        name = "".join(draw.choices(LETTERS, k=draw.randrange(6))) + str(number)
        data = draw.randbytes(elements * DTYPES[dtype][1] // 8)
        if dtype == "bool":
            data = bytes(byte & 1 for byte in data)
        tensors.append({"name": name, "dtype": dtype, "shape": shape, "data": data})
    metadata = {f"key{i}": "".join(draw.choices(LETTERS, k=4)) for i in range(draw.randrange(3))}
    return tensors, metadata


def call(program, verb, path, said=""):
    done = subprocess.run([program, verb, path], input=said, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} {verb}: {done.stderr}")
    return done.stdout


def by_name(tensors):
    return {t["name"]: (t["dtype"], list(t["shape"]), bytes(t["data"])) for t in tensors}


def write_by_them(path, tensors, metadata):
    arrays = [numpy.frombuffer(t["data"], dtype=numpy.uint8) for t in tensors]  # kept, for their addresses
    safetensors.serialize_file({
        t["name"]: safetensors.TensorSpec(dtype=t["dtype"], shape=t["shape"], data_ptr=a.ctypes.data,
                                          data_len=a.nbytes)
        for t, a in zip(tensors, arrays)}, path, metadata or None)


def read_by_them(path):
    tensors = safetensors.deserialize(path.read_bytes())
    with safetensors.safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
    return by_name({"name": name, **facts} for name, facts in tensors), metadata


def read_by_us(program, path):
    said = json.loads(call(program, "read", path))
    for tensor in said["tensors"]:
        tensor["data"] = bytes.fromhex(tensor["data"])
    return by_name(said["tensors"]), said["metadata"]


def compare(program, folder, tensors, metadata):
    ours, theirs = folder / "ours.safetensors", folder / "theirs.safetensors"
    wanted = by_name({**t, "dtype": DTYPES[t["dtype"]][0]} for t in tensors), metadata
    write_by_them(theirs, tensors, metadata)
    said = {"metadata": metadata, "tensors": [
        {**t, "dtype": DTYPES[t["dtype"]][0], "data": t["data"].hex()} for t in tensors]}
    call(program, "write", ours, json.dumps(said))
    for path in (ours, theirs):
        for found in (read_by_them(path), read_by_us(program, path)):
            if found != wanted:
                sys.exit(f"{path.name}\nwanted {wanted}\nfound  {found}")


def compare_arrays(program, folder):
    """The way that people use it."""
    arrays = {"weights": numpy.linspace(-1, 1, 3000, dtype=numpy.float32).reshape(30, 100),
              "steps": numpy.arange(7), "one": numpy.array(3.5)}
    path = folder / "arrays.safetensors"
    safetensors.numpy.save_file(arrays, path, metadata={"format": "np"})
    again = folder / "again.safetensors"
    call(program, "write", again, call(program, "read", path))
    back = safetensors.numpy.load_file(again)
    if set(back) != set(arrays) or not all(numpy.array_equal(back[n], arrays[n]) for n in arrays):
        sys.exit(f"wanted {arrays}\nfound  {back}")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(f"safetensors/{options.seed}")
    with tempfile.TemporaryDirectory() as name:
        compare_arrays(options.program, pathlib.Path(name))
        for _ in range(options.cases):
            compare(options.program, pathlib.Path(name), *make_case(draw))
    print(f"{options.cases} files are read and written alike")


if __name__ == "__main__":
    main()
