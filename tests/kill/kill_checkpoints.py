#!/usr/bin/env python3
"""Kills saves, restores and prunes at random moments, and looks at what each kill has left.

usage: kill_checkpoints.py PROGRAM KILLS [--root URL] [--seed N]

A root is a new folder unless one is given; "test-store" is the bucket that tests/servers/run has
started. After every kill the newest checkpoint must come back whole: the last one that was
acknowledged, or the one whose save was killed before it could tell.
"""

import argparse
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
MARK = ".outlast-restoring"


class Trouble(Exception):
    pass


def digest(folder):
    """Of names, kinds, modes, times and contents; not of the mark of a restore."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        inside = path.relative_to(folder)
        if inside.parts[0].startswith(".outlast-"):
            continue
        found.update(f"{inside} {info.st_mode:o}".encode())
        if path.is_symlink():
            found.update(os.readlink(path).encode())
        elif path.is_file():
            found.update(f"{info.st_mtime_ns} {info.st_nlink} ".encode() + path.read_bytes())
    return found.hexdigest()


class Game:
    def __init__(self, program, root, scratch, seed):
        self.program, self.root, self.scratch = program, root, scratch
        self.draw = random.Random(f"kill/{seed}")
        self.state, self.back, self.other = (scratch / name for name in ("state", "back", "other"))
        self.version, self.possible = 0, {}
        self.usual = {}  # seconds that each command takes when it is left alone
        self.kills = {"save": 0, "restore": 0, "prune": 0}

    def command(self, verb, *words):
        return [self.program, "ckpt", verb, "--quiet", "--root", self.root, "--job", "killed", *map(str, words)]

    def whole(self, verb, *words, wanted=0):
        done = subprocess.run(self.command(verb, *words), capture_output=True, text=True, check=False)
        if done.returncode != wanted:
            raise Trouble(f"'ckpt {verb}' ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stderr

    def killed(self, verb, *words):
        """True if it was, False if it had ended well before."""
        with open(self.scratch / "said", "w+", encoding="utf-8") as said:
            started = time.monotonic()
            child = subprocess.Popen(self.command(verb, *words), stdout=said, stderr=said)
            try:
                code = child.wait(self.draw.uniform(0, 1.1 * self.usual[verb]) if verb in self.usual else None)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                self.kills[verb] += 1
                return True
            said.seek(0)
            if code:
                raise Trouble(f"'ckpt {verb}' ended with {code}: {said.read()}")
        # The median of what is seen would need fewer kills; a mean that forgets follows well enough.
        seconds = time.monotonic() - started
        self.usual[verb] = 0.7 * self.usual.get(verb, seconds) + 0.3 * seconds
        return False

    def train(self):
        """Another state: some files are others, some the same, and some come and go."""
        self.version += 1
        self.state.mkdir(exist_ok=True)
        (self.state / "weights").write_bytes(self.draw.randbytes(2 * MIB) + b"frozen" * 200_000)
        (self.state / "optimizer").write_bytes(self.draw.randbytes(MIB))
        (self.state / "step").write_text(str(self.version))
        best, last = self.state / "best", self.state / "last"
        for path in (best, last):
            path.unlink(missing_ok=True)
        last.symlink_to("weights")
        if self.version % 2:
            best.hardlink_to(self.state / "weights")

    def save(self):
        self.train()
        wanted = digest(self.state)
        if not self.killed("save", self.state):
            self.possible.clear()  # it was acknowledged: nothing older will do
        self.possible[wanted] = self.version

    def restore(self):
        """What is there is whole, or marked; and a marked folder is not saved."""
        before = digest(self.other) if self.other.exists() and not (self.other / MARK).exists() else None
        was_killed = self.killed("restore", "--exact", self.other)
        if (self.other / MARK).exists():
            if not was_killed:
                raise Trouble("a restore that has ended left its mark")
            if "has not ended" not in self.whole("save", self.other, wanted=3):
                raise Trouble("a restore that was killed was saved")
        elif self.other.exists() and any(self.other.iterdir()):
            if digest(self.other) not in {before, *self.possible}:
                raise Trouble("a restore that was killed looks like a finished one")

    def prune(self):
        self.killed("prune", "--keep-last", "2", "--grace", "1s")

    def check(self):
        self.whole("restore", "--exact", self.back)
        found = digest(self.back)
        if found not in self.possible:
            raise Trouble(f"what came back is none of the versions {sorted(self.possible.values())}")
        self.possible = {found: self.possible[found]}

    def play(self, kills):
        self.save()
        while sum(self.kills.values()) < kills:
            self.draw.choices([self.save, self.restore, self.prune], [6, 3, 1])[0]()
            self.check()
        self.whole("verify", "--full")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("kills", type=int)
    parser.add_argument("--root")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        root = options.root or str(scratch / "root")
        if root == "test-store":
            root = os.environ["OUTLAST_TEST_STORE"].rstrip("/") + "/kills"
        game = Game(options.program, root, scratch, options.seed)
        try:
            game.play(options.kills)
        except Trouble as trouble:
            sys.exit(f"after {game.kills} kills, at version {game.version}: {trouble}")
        print(f"{game.version} versions; killed: " +
              ", ".join(f"{count} of {verb}" for verb, count in game.kills.items()))


if __name__ == "__main__":
    main()
