"""The servers and clients that the tests use: which version, where it lies, whether it is there.

Python's standard library only: this must run before anything is installed.
"""

import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Missing(Exception):
    """Says in one sentence what is not there, and how to have it."""


def root():
    """The cache folder: outside the tree, shared by every checkout."""
    chosen = os.environ.get("OUTLAST_TEST_SERVERS")
    return pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache/outlast/servers"


# name: (version, program, lowest Go that builds it)
GO = {
    "versitygw": ("1.8.0", "github.com/versity/versitygw/cmd/versitygw@v1.8.0", (1, 25)),
    "fake-gcs-server": ("1.56.1", "github.com/fsouza/fake-gcs-server@v1.56.1", (1, 26)),
    "gcsemulator": (
        "0.0.0-20240401123056",
        "github.com/fullstorydev/emulators/storage/cmd/gcsemulator"
        "@v0.0.0-20240401123056-edc69752f474",
        (1, 18),
    ),
}

# name: (version, the script that node runs)
NPM = {
    "azurite": ("3.35.0", "node_modules/azurite/dist/src/blob/main.js"),
    "s3rver": ("3.7.1", "node_modules/s3rver/bin/s3rver.js"),
    # No server: what tests/report drives a browser with.
    "playwright-core": ("1.65.0", "node_modules/playwright-core/index.js"),
}

# Virtual environments, and the file that pins what is in each. python-clients: gcp-storage-emulator, and
# the clients and signers of others that we are compared to. python-trainers: what examples/ train with.
# python-frameworks: what the helpers of python/outlast are for.
PYTHON_CLIENTS = "python-clients"
PYTHON = {
    PYTHON_CLIENTS: HERE / "python_packages.txt",
    "python-trainers": HERE / "trainer_packages.txt",
    "python-frameworks": HERE / "framework_packages.txt",
}

MAVEN = {"s3proxy": ("3.1.0", "org.gaul", "s3proxy")}

DEBIAN = {"radosgw": ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph", "monmaptool")}

INSTALLABLE = [*GO, *NPM, *PYTHON, *MAVEN]
# s3proxy breaks mutual exclusion and needs Java; the frameworks are several gigabytes: for those who
# ask for them.
BY_NAME_ONLY = ["s3proxy", "python-frameworks"]


def python_version(name):
    """A virtual environment's name changes with its pins and with the Python that made it."""
    import zlib

    pins = zlib.crc32(PYTHON[name].read_bytes())
    return f"{sys.version_info.major}.{sys.version_info.minor}-{pins:08x}"


def folder(name):
    """Where this version of it lies once it is installed whole."""
    if name in GO:
        version = GO[name][0]
    elif name in NPM:
        version = NPM[name][0]
    elif name in MAVEN:
        version = MAVEN[name][0]
    elif name in PYTHON:
        version = python_version(name)
    else:
        raise KeyError(name)
    return root() / f"{name}-{version}"


def stamp(name):
    """Written last: a folder without it is a half-done installation, to be made anew."""
    return folder(name) / ".whole"


def need_installed(name):
    if not stamp(name).exists():
        raise Missing(f"{name} is not installed: run tests/servers/install {name}")
    return folder(name)


def need_program(name):
    found = shutil.which(name)
    if not found:
        raise Missing(f"there is no program '{name}' on PATH")
    return found


def go_program(name):
    return str(need_installed(name) / name)


def node_command(name):
    return [need_program("node"), str(need_installed(name) / NPM[name][1])]


def python(name=PYTHON_CLIENTS):
    """The interpreter that has the pinned packages."""
    return str(need_installed(name) / "bin/python")


def debian_programs(name):
    try:
        return {program: need_program(program) for program in DEBIAN[name]}
    except Missing as missing:
        raise Missing(f"{missing}: run ./dev setup test") from None


def minio():
    """Never installed by us: used where somebody has it."""
    beside = root() / "bin/minio"
    if beside.exists():
        return str(beside)
    try:
        return need_program("minio")
    except Missing:
        raise Missing(f"there is no minio on PATH or at {beside}") from None
