"""Restores the newest checkpoint of a job from a root that is a folder, without outlast.

usage: read_checkpoint.py ROOT JOB FOLDER [--seq N] [--packs]

Written from docs/checkpoint_format.md alone, to prove that it suffices. FOLDER must not exist. Every
hash is verified; --packs also reads every pack whole and checks its table and CRCs, which is slow here.
Prints a line of JSON: seq, files, bytes. Needs zstd: Python 3.14, or the zstandard module.
"""

import argparse
import base64
import functools
import hashlib
import json
import os
import pathlib
import re
import struct
import sys

try:
    from compression import zstd  # Python 3.14

    def zstd_content(frame, size):
        decompressor = zstd.ZstdDecompressor()
        content = decompressor.decompress(frame, size + 1)
        if not decompressor.eof or decompressor.unused_data:
            raise Damaged("not exactly one zstd frame")
        return content
except ImportError:
    try:
        import zstandard
    except ImportError:
        sys.exit("read_checkpoint.py: there is no zstd module here: pip install zstandard")

    def zstd_content(frame, size):
        if zstandard.frame_content_size(frame) != size:
            raise Damaged("a zstd frame of another size")
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        try:
            content = decompressor.decompress(frame)
        except zstandard.ZstdError as error:
            raise Damaged(f"not a zstd frame: {error}") from None
        if not decompressor.eof or decompressor.unused_data:
            raise Damaged("not exactly one zstd frame")
        return content


class Damaged(Exception):
    """What was stored is not there as it was stored."""


class Newer(Exception):
    """It is of a format that this does not know."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@functools.cache
def crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


def crc32c(data):
    table, crc = crc32c_table(), 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def require(condition, what):
    if not condition:
        raise Damaged(what)


def canonical(value):
    """Right for everything here but some spellings of fractions, which only an entry's metrics have."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def read_json(data, what):
    def no_twins(pairs):
        require(len(dict(pairs)) == len(pairs), f"{what} has a key twice")
        return dict(pairs)

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=no_twins)
    except ValueError as error:
        raise Damaged(f"{what} is not JSON: {error}") from None
    require(isinstance(value, dict), f"{what} is no object")
    if value.get("format") != 1:
        if isinstance(value.get("format"), int) and value["format"] > 1:
            raise Newer(f"{what} has format {value['format']}, and only 1 is known here")
        raise Damaged(f"{what} has no format")
    return value


# The log ---------------------------------------------------------------------------------------

ENTRY_NAME = re.compile(r"(\d{12})-([1-9]\d{0,11})\.json")
BEFORE_SUM = b',"sum":"'


def read_entry(data, seq):
    at = data.find(BEFORE_SUM)
    require(at >= 0, f"entry {seq} has no sum")
    digits = at + len(BEFORE_SUM)
    rest = data[:at] + data[digits + 33:]
    require(sha256(rest)[:32].encode() == data[digits:digits + 32], f"the sum of entry {seq} is wrong")
    entry = read_json(data, f"entry {seq}")
    require(entry["seq"] == seq, f"entry {seq} says that it is {entry['seq']}")
    return entry


def read_log(folder):
    """The entries by place; damaged ones are said and left out."""
    entries = {}
    for path in sorted((folder / "commits").iterdir()):
        match = ENTRY_NAME.fullmatch(path.name)
        if not match or int(match[1]) != 999999999999 - int(match[2]):
            continue
        seq = int(match[2])
        try:
            entries[seq] = read_entry(path.read_bytes(), seq)
        except (Damaged, KeyError) as error:
            print(f"read_checkpoint.py: {error}: left out", file=sys.stderr)
    return entries


def restorable(entries):
    """The places of the checkpoints that can be restored."""
    highest, found = 0, set()
    for seq in sorted(entries):
        entry = entries[seq]
        highest = max(highest, entry["floor"])
        if entry["epoch"] < highest:
            continue
        highest = entry["epoch"]
        if entry["kind"] == "checkpoint":
            found.add(seq)
        elif entry["kind"] == "prune":
            found &= set(entry["prune"]["kept"])
    return found


# Packs and chunks --------------------------------------------------------------------------------

MAGIC = b"outlast pack\n\x1a\r\n"
HEAD = struct.Struct("<16sI16sI")
ROW = struct.Struct("<32sIIIB")
WIDTHS = {3: 2, 4: 4, 5: 8}


def check_pack(name, data):
    """Every byte of it."""
    (length,) = struct.unpack("<I", data[-4:])
    table = data[len(data) - 4 - length:-4]
    require(sha256(table) == name, f"pack {name} is not what its name says")
    magic, version, _, count = HEAD.unpack_from(table)
    require(magic == MAGIC, f"pack {name} has another table")
    if version > 1:
        raise Newer(f"pack {name} has format {version}, and only 1 is known here")
    require(version == 1 and length == HEAD.size + count * ROW.size, f"pack {name} has another length")
    offset = 0
    for row in ROW.iter_unpack(table[HEAD.size:]):
        _, stored, raw, crc, codec = row
        require(codec in (0, 2, 3, 4, 5), f"pack {name} has a chunk of codec {codec}")
        require(stored == raw if codec == 0 else 0 < stored < raw, f"pack {name} has odd numbers")
        require(crc32c(data[offset:offset + stored]) == crc, f"pack {name} is damaged at {offset}")
        offset += stored
    require(offset + length + 4 == len(data), f"pack {name} has another length")


def decode_planes(stored, size, width):
    count = size // width
    lengths = struct.unpack_from(f"<{width}I", stored)
    offset = 4 * width
    raw = bytearray(size)
    for plane, length in enumerate(lengths):
        require(length <= count and offset + length <= len(stored), "a plane is too long")
        data = stored[offset:offset + length]
        raw[plane:count * width:width] = data if length == count else zstd_content(data, count)
        offset += length
    tail = stored[offset:]
    require(len(tail) == size - count * width, "the planes have another length")
    raw[count * width:] = tail
    return bytes(raw)


def decode(codec, stored, size):
    if codec == 0:
        return stored
    if codec == 1:
        return bytes(size)
    if codec == 2:
        return zstd_content(stored, size)
    require(codec in WIDTHS, f"there is no codec {codec}")
    return decode_planes(stored, size, WIDTHS[codec])


class Chunks:
    """The chunks of one manifest."""

    def __init__(self, job, manifest):
        self.job, self.packs, self.rows = job, manifest["packs"], manifest["chunks"]

    def read(self, index):
        pack, offset, stored, size, codec, name, _ = self.rows[index]
        data = b""
        if codec != 1:
            path = self.job / "packs" / self.packs[pack]
            require(path.is_file(), f"the pack {path.name} is missing")
            with open(path, "rb") as file:
                file.seek(offset)
                data = file.read(stored)
        require(len(data) == stored, f"chunk {name} is cut off")
        raw = decode(codec, data, size)
        require(len(raw) == size and sha256(raw) == name, f"chunk {name} is damaged")
        return raw


# Manifests and items -----------------------------------------------------------------------------


def text_of(item, key):
    """Its bytes."""
    if key + "64" in item:
        return base64.b64decode(item[key + "64"], validate=True)
    return item[key].encode()


def read_manifest(job, name):
    path = job / "manifests" / name
    require(path.is_file(), f"the manifest {name} is missing")
    data = path.read_bytes()
    require(sha256(data) == name, f"the manifest {name} is damaged")
    manifest = read_json(data, f"the manifest {name}")
    require(canonical(manifest) == data, f"the manifest {name} is not canonical")
    kinds = {text_of(item, "path"): item["kind"] for item in manifest["items"]}
    require(list(kinds) == sorted(kinds), f"the manifest {name} is not in order")
    require(len(kinds) == len(manifest["items"]), f"the manifest {name} has a path twice")
    for path in kinds:
        parts = path.split(b"/")
        require(not {b"", b".", b".."} & set(parts) and b"\0" not in path, f"{path} leads elsewhere")
        for end in range(1, len(parts)):
            above = b"/".join(parts[:end])
            require(kinds.get(above, "folder") == "folder", f"{path} leads through {above}")
    return manifest


def restore_item(item, chunks, folder, names):
    """Everything but what must wait: times and modes of folders, second names."""
    path = os.path.join(folder, text_of(item, "path"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = item["kind"]
    if kind == "folder":
        os.makedirs(path, exist_ok=True)
    elif kind == "symlink":
        os.symlink(text_of(item, "target"), path)
    elif kind == "hardlink":
        names.append((os.path.join(folder, text_of(item, "target")), path))
    elif kind == "file":
        size = 0
        with open(path, "xb") as file:
            for index in item["chunks"]:
                size += file.write(chunks.read(index))
            os.fchmod(file.fileno(), item["mode"])
        require(size == item["size"], f"{path} has {size} bytes")
        os.utime(path, ns=(item["modified"], item["modified"]))
    else:
        require(kind == "region", f"there is no kind '{kind}'")
        require(sum(len(chunks.read(i)) for i in item["chunks"]) == item["size"], f"{path} is cut off")
    return item.get("size", 0)


def restore(job, entry, folder):
    names, folders, files, total = [], [], 0, 0
    os.makedirs(folder)
    for name in entry["checkpoint"]["manifests"]:
        manifest = read_manifest(job, name)
        chunks = Chunks(job, manifest)
        for item in manifest["items"]:
            total += restore_item(item, chunks, folder, names)
            files += item["kind"] == "file"
            if item["kind"] == "folder":
                folders.append((os.path.join(folder, text_of(item, "path")), item))
    for old, new in names:
        os.link(old, new)
    for path, item in reversed(folders):  # what is in it before itself
        os.chmod(path, item["mode"])
        os.utime(path, ns=(item["modified"], item["modified"]))
    return files, total


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("job")
    parser.add_argument("folder", type=os.fsencode)
    parser.add_argument("--seq", type=int)
    parser.add_argument("--packs", action="store_true")
    options = parser.parse_args()
    job = options.root / "jobs" / options.job
    try:
        require((job / "commits").is_dir(), f"there is no job at {job}")
        if options.packs:
            for path in sorted((job / "packs").iterdir()):
                if not path.name.startswith(".outlast-"):
                    check_pack(path.name, path.read_bytes())
        entries = read_log(job)
        found = restorable(entries)
        seq = options.seq or max(found, default=0)
        require(seq in found, "there is no such checkpoint that can be restored")
        files, total = restore(job, entries[seq], options.folder)
    except (Damaged, Newer) as error:
        sys.exit(f"read_checkpoint.py: {error}")
    print(json.dumps({"seq": seq, "files": files, "bytes": total}))


if __name__ == "__main__":
    main()
