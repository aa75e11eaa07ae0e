"""Slurm 24.11, from a Debian 13 root in which it runs by chroot.

The root is made once, into $OUTLAST_TEST_SLURM or ~/.cache/outlast/slurm, and only read by the tests: what they write is
in their scratch folder, which is seen inside under the same path. What is mounted for that is seen by them alone.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from slurm_cluster import Missing

# A new number when what the root is made of changes.
SUITE = "trixie"
VERSION = "1"
PACKAGES = "slurm-wlm,munge"


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def make_root(made):
    if not shutil.which("mmdebstrap"):
        raise Missing("there is nothing to make a Debian 13 root with: apt-get install mmdebstrap")
    made.parent.mkdir(parents=True, exist_ok=True)
    draft = pathlib.Path(tempfile.mkdtemp(dir=made.parent, prefix="draft-"))
    try:
        done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", SUITE,
                               str(draft / "root")], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"mmdebstrap could not make a Debian 13 root: {last_line(done.stderr)}")
        (draft / "root").rename(made)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


class Debian13:
    def __init__(self):
        chosen = os.environ.get("OUTLAST_TEST_SLURM")
        cache = pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache/outlast/slurm"
        self.root = cache / f"{SUITE}-{VERSION}"
        self.holder = None

    def check(self):
        if os.geteuid() != 0:
            raise Missing("only root can start a Slurm cluster")
        if not self.root.exists():
            make_root(self.root)
        tried = subprocess.run(["unshare", "--mount", "chroot", str(self.root), "/bin/true"], capture_output=True,
                               text=True, check=False)
        if tried.returncode != 0:
            raise Missing(f"nothing can be run in a Debian 13 root here: {last_line(tried.stderr)}")

    def open(self, scratch, children):
        """A process that holds the mounts as long as it lives."""
        script = """set -eu
mount --rbind /proc "$0/proc"
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
mount -t tmpfs none "$0/run"
mount -t tmpfs none "$0/tmp"
mkdir -p "$0$1"
mount --bind "$1" "$0$1"
touch "$1/mounted"
exec sleep infinity
"""
        self.holder = children.spawn("mounts", ["unshare", "--mount", "--propagation", "private", "sh", "-c", script,
                                                str(self.root), str(scratch)])
        children.wait_until("the Debian 13 root", self.holder, (scratch / "mounted").exists)

    def command(self, words, folder="/"):
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "chroot", str(self.root), "env", "-C", str(folder),
                *map(str, words)]

    def add_program(self, program, folder):
        """With the shared libraries that the root does not have."""
        shutil.copy(program, folder)
        libraries = folder.parent / "lib"
        libraries.mkdir(exist_ok=True)
        needs = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        for library in map(pathlib.Path, re.findall(r"=> (/\S+)", needs)):
            if not list(self.root.glob(f"usr/lib/*/{library.name}")):
                shutil.copy(library, libraries)
        return {"LD_LIBRARY_PATH": str(libraries)}
