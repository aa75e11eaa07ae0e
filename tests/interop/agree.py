"""What outlast wrote, another client reads, and the reverse: names, sizes and bytes.

usage: agree.py OUTLAST aws|rclone|azure        (through tests/servers/run)
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients

MIB = 1 << 20
# Names that encoders get wrong, and sizes around which uploads go in parts.
FILES = {
    "plain.bin": 5,
    "empty": 0,
    "with space/and more.txt": 1000,
    "plus+plus": 70_000,
    "percent%20sign%": 3,
    "unicode/äé€漢字🚀": 4096,
    "signs/a&b=c;d,e@f'g(h)!": 17,
    "just-one-part.bin": 5 * MIB,
    "parts.bin": 20 * MIB + 1,
}


# This client asks for a range of what is empty, and stumbles over Ceph's refusal: also of what it
# wrote itself.
LEFT_OUT = {("aws", "radosgw"): ("empty",)}


def fill(folder, seed, files):
    draw = random.Random(seed)
    for name, size in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw.randbytes(size))


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def expect_equal(what, found, wanted):
    """Compares by name first: a difference in 20 MiB of bytes is not for printing."""
    if sorted(found) != sorted(wanted):
        sys.exit(f"{what}: the names differ\n  found:  {sorted(found)}\n  wanted: {sorted(wanted)}")
    for name, value in wanted.items():
        if found[name] != value:
            sys.exit(f"{what}: '{name}' differs")


def main(outlast, client_name):
    client = clients.make(client_name)
    url = os.environ["OUTLAST_TEST_STORE"]
    left_out = LEFT_OUT.get((client_name, os.environ["OUTLAST_TEST_SERVER"]), ())
    files = {name: size for name, size in FILES.items() if name not in left_out}
    work = pathlib.Path(tempfile.mkdtemp(prefix="outlast-interop-"))

    def run_outlast(*arguments):
        done = subprocess.run([outlast, "store", *arguments], capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"outlast store {' '.join(arguments)}: {done.stderr.decode()}")
        return done.stdout

    try:
        for folder in ("ours", "theirs"):
            fill(work / folder, folder, files)
        run_outlast("cp", "--recursive", str(work / "ours"), f"{url}/ours")
        client.download("ours", work / "ours-read-by-them")
        expect_equal(f"{client_name} reads what outlast wrote",
                     contents(work / "ours-read-by-them"), contents(work / "ours"))

        client.upload(work / "theirs", "theirs")
        run_outlast("cp", "--recursive", f"{url}/theirs", str(work / "theirs-read-by-us"))
        expect_equal(f"outlast reads what {client_name} wrote",
                     contents(work / "theirs-read-by-us"), contents(work / "theirs"))
        listed = [json.loads(line) for line in
                  run_outlast("ls", "--recursive", "--json", f"{url}/theirs/").splitlines()]
        expect_equal(f"outlast lists what {client_name} wrote",
                     {entry["url"].split("/theirs/", 1)[1]: entry["size"] for entry in listed}, files)
        for name in files:
            expect_equal("outlast store cat", {name: run_outlast("cat", f"{url}/theirs/{name}")},
                         {name: (work / "theirs" / name).read_bytes()})
    finally:
        shutil.rmtree(work)
    print(f"{client_name} and outlast agree on {len(files)} objects, both ways")


if __name__ == "__main__":
    main(*sys.argv[1:])
