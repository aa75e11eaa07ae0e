#!/usr/bin/env python3
"""A checkpoint of very many small files. usage: agent_many_files.py PROGRAM [unittest's words]

OUTLAST_MANY_FILES says how many; 100,000 unless it does.
"""

import os
import pathlib
import re
import signal

import agent_rig
from agent_rig import AgentTest

FILES = int(os.environ.get("OUTLAST_MANY_FILES", "100000"))
# Of resident memory, per file, over what a run of few files takes: paths and what is known of each.
KIB_PER_FILE_MAX = 4
KIB_BASE = 200 << 10


def peak_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1])


class ManyFiles(AgentTest):
    def test_all_are_saved_and_restored_with_bounded_memory(self):
        trainer = self.trainer(f"""
if RESUME:
    found = [path for path in CKPT.rglob("part-*")]
    note(f"came back {{os.environ['OUTLAST_ATTEMPT']}}",
         f"{{len(found)}} {{sum(int(path.read_text()) for path in found)}}")
    wait_for("enough")
    sys.exit(0)
for i in range({FILES}):
    folder = CKPT / f"shard-{{i // 1000}}"
    folder.mkdir(exist_ok=True)
    (folder / f"part-{{i}}").write_text(str(i))
sys.exit(75)
""")
        agent_rig.PATIENCE = 900
        all_of_them = f"{FILES} {FILES * (FILES - 1) // 2}"
        run = self.train(trainer)
        self.assertEqual(self.noted("came back 1"), all_of_them)
        saving = peak_kib(run.process.pid)
        seconds = run.events("saved")[-1]["seconds"]
        run.signal(signal.SIGKILL)
        self.ends(run, 128 + signal.SIGKILL)
        again = self.train(trainer, folder=self.folder("elsewhere"))
        self.assertEqual(self.noted("came back 2"), all_of_them)
        restoring = peak_kib(again.process.pid)
        self.go("enough")
        self.ends(again, 0)
        self.assertIn(f" in {FILES + 1} files, ", again.texts("resumed")[0])
        print(f"{FILES} files: saved in {seconds:.1f} s; peak memory {saving >> 10} MiB while "
              f"saving, {restoring >> 10} MiB while restoring")
        for peak in (saving, restoring):
            self.assertLess(peak, KIB_BASE + KIB_PER_FILE_MAX * FILES)


if __name__ == "__main__":
    agent_rig.main()
