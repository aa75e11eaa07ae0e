#!/usr/bin/env python3
"""The drills of docs/drill.md, one for each place, as they stand there.

usage: drill_documents.py PROGRAM [--level 0]     (0: the same with a trainer that handles no signal)
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ["signal", "file", "gce", "azure", "ec2", "slurm", "kill"]
PATIENCE = 300


def commands():
    """The words of each command, by its source."""
    text = (ROOT / "docs" / "drill.md").read_text(encoding="utf-8")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("outlast drill --as ") and " -- sh " in line]
    return {words[3]: words[1:] for words in lines}


def at_level_0(words):
    """Nobody can be asked: what is lost is what came after its last file."""
    without = [word for word in words if word != "--polite"]
    return [word.replace("lost<=0,", "lost<=21,") for word in without]


class Documents(unittest.TestCase):
    program = ""
    level = "1"

    def test_every_place_is_rehearsed(self):
        self.assertEqual(list(commands()), SOURCES)

    def drill(self, source):
        words = commands()[source]
        if self.level == "0":
            words = at_level_0(words)
        with tempfile.TemporaryDirectory(prefix="outlast-drill-") as folder:
            shutil.copy(ROOT / "examples" / "counter.sh", folder)
            done = subprocess.run([self.program, *words[:1], "--json", *words[1:]], cwd=folder, text=True, check=False,
                                  capture_output=True, timeout=PATIENCE, env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        troubles = [one for life in report["disturbed"]["lives"] for one in life["injections"]]
        self.assertEqual(len(troubles), 5, done.stdout)
        self.assertTrue(report["comparison"]["identical"])


for name in SOURCES:
    setattr(Documents, f"test_{name}", lambda self, source=name: self.drill(source))


if __name__ == "__main__":
    Documents.program = os.path.abspath(sys.argv.pop(1))
    if "--level" in sys.argv:
        at = sys.argv.index("--level")
        Documents.level = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    unittest.main(verbosity=2)
