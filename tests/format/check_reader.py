"""Lets read_checkpoint.py restore what compose_root made, and damages it in every object.

usage: check_reader.py COMPOSE_ROOT
"""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

READER = pathlib.Path(__file__).resolve().parent / "read_checkpoint.py"


def read(root, folder, *options):
    return subprocess.run([sys.executable, READER, root, "example", folder, *options],
                          capture_output=True, text=True, check=False)


def tree(folder):
    """What lies there, as compose_root says it."""
    found, first_names = [], {}
    for where, folders, files in os.walk(os.fsencode(folder)):
        for name in sorted(folders + files):
            path = os.path.join(where, name)
            info, inside = os.lstat(path), os.path.relpath(path, os.fsencode(folder))
            item = {"kind": "file", "path": inside, "target": b"", "mode": stat.S_IMODE(info.st_mode),
                    "modified": info.st_mtime_ns, "sha256": hashlib.sha256(b"").hexdigest()}
            if stat.S_ISDIR(info.st_mode):
                item["kind"] = "folder"
            elif stat.S_ISLNK(info.st_mode):
                item.update(kind="symlink", target=os.readlink(path), mode=0, modified=0)
            else:
                with open(path, "rb") as file:
                    item["sha256"] = hashlib.sha256(file.read()).hexdigest()
                first_names.setdefault(info.st_ino, []).append(inside)
            found.append(item)
    return found, [sorted(names) for names in first_names.values() if len(names) > 1]


def compare(checkpoint, folder):
    found, same_files = tree(folder)
    found = {item["path"]: item for item in found}
    wanted, links = {}, []
    for item in checkpoint["items"]:
        item["path"], item["target"] = (base64.b64decode(item[key]) for key in ("path", "target"))
        if item["kind"] == "hardlink":
            links.append(sorted([item["path"], item["target"]]))
        elif item["kind"] != "region":
            wanted[item["path"]] = item
    if same_files != links:
        sys.exit(f"wanted the second names {links}, found {same_files}")
    second_names = {path for names in links for path in names}
    for path in wanted.keys() | found.keys():
        # Folders that are no items are made on the way.
        if path in wanted or not (path in second_names or found[path]["kind"] == "folder"):
            if wanted.get(path) != found.get(path):
                sys.exit(f"wanted {wanted.get(path)}\nfound  {found.get(path)}")


def damage_each(root, folder, seq):
    """Changes bytes of each object. Those that the checkpoint needs must keep it from coming back."""
    noticed = 0
    for path in sorted(root.rglob("*")):
        if not path.is_file() or ".outlast-" in str(path):
            continue
        whole = path.read_bytes()
        is_pack = path.parent.name == "packs"
        for at in {0, len(whole) // 2, len(whole) - 1}:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            done = read(root, folder / "damaged", "--seq", seq, *(["--packs"] if is_pack else []))
            if done.returncode == 0 and is_pack:
                sys.exit(f"byte {at} of {path} was changed, and nobody noticed")
            if done.returncode and not done.stderr.startswith("read_checkpoint.py: "):
                sys.exit(f"byte {at} of {path} was changed: {done.stderr}")
            noticed += done.returncode != 0
            shutil.rmtree(folder / "damaged", ignore_errors=True)
        path.write_bytes(whole)
    return noticed


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "root"
        made = subprocess.run([sys.argv[1], root], capture_output=True, text=True, check=False)
        if made.returncode:
            sys.exit(f"compose_root: {made.stderr}")
        wanted = [json.loads(line) for line in made.stdout.splitlines()]
        for number, checkpoint in enumerate(wanted):
            back = folder / f"back-{number}"
            newest = checkpoint is wanted[-1]
            done = read(root, back, "--packs", *([] if newest else ["--seq", str(checkpoint["seq"])]))
            if done.returncode:
                sys.exit(done.stderr)
            if json.loads(done.stdout)["seq"] != checkpoint["seq"]:
                sys.exit(f"wanted checkpoint {checkpoint['seq']}: {done.stdout}")
            compare(checkpoint, back)
        for seq in (1, 2, 5, 9, 99):
            if read(root, folder / "no", "--seq", str(seq)).returncode == 0:
                sys.exit(f"entry {seq} was restored")
        noticed = damage_each(root, folder, str(wanted[-1]["seq"]))
        # Its entry, its two manifests and at least its eight packs.
        if noticed < 3 * 11:
            sys.exit(f"only {noticed} changed bytes were noticed")
        print(f"{len(wanted)} checkpoints came back; {noticed} changed bytes were noticed")


if __name__ == "__main__":
    main()
