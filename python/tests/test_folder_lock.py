"""Two processes never write the files of one rank in one folder."""

import os
import subprocess
import sys
import tempfile
import unittest

import outlast

OTHER = """
import outlast, sys
snapshots = outlast.Snapshots(folder=sys.argv[1], rank=int(sys.argv[2]), ranks=2)
snapshots.add("a", bytearray(10))
try:
    getattr(snapshots, sys.argv[3])(*map(int, sys.argv[4:]))
except outlast.SnapshotError as error:
    sys.exit(str(error))
print("mine", flush=True)
sys.stdin.readline()
"""


class FolderLock(unittest.TestCase):
    def setUp(self):
        os.environ.pop("OUTLAST_SOCKET", None)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def own(self, rank=0):
        snapshots = outlast.Snapshots(folder=self.folder, rank=rank, ranks=2)
        self.addCleanup(snapshots.close)
        snapshots.add("a", bytearray(10))
        return snapshots

    def other(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-B", "-c", OTHER, self.folder, *map(str, arguments)],
                              input="\n", capture_output=True, text=True, env=environment, check=False)  # fmt: skip

    def test_another_process_of_the_same_rank_is_refused(self):
        snapshots = self.own()
        snapshots.save(1)
        before = sorted(os.listdir(self.folder))
        for call in (("save", 2), ("resume",)):
            found = self.other(0, *call)
            self.assertIn(f"another process (pid {os.getpid()}) saves rank 0 of 2 in {self.folder}: give another folder, "
                          "or the right rank", found.stderr)  # fmt: skip
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        with open(os.path.join(self.folder, ".rank-0-of-2.lock"), encoding="ascii") as file:
            self.assertEqual(int(file.read()), os.getpid())
        self.assertEqual(self.other(1, "save", 1).stdout, "mine\n")
        snapshots.close()
        self.assertEqual(self.other(0, "save", 2).stdout, "mine\n")

    def test_it_ends_with_the_process_although_its_child_lives(self):
        snapshots = self.own()
        snapshots.save(1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # until the parent closes its end
            os._exit(0)
        os.close(reading)
        try:
            snapshots.close()
            self.assertEqual(self.other(0, "save", 2).stdout, "mine\n")
        finally:
            os.close(writing)
            os.waitpid(child, 0)

    def test_a_child_does_not_have_it_nor_takes_it_away(self):
        snapshots = self.own()
        snapshots.save(1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.own().save(2)
            except outlast.SnapshotError as error:
                code = 0 if "another process" in str(error) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertIn("another process", self.other(0, "save", 2).stderr)
        snapshots.save(2)

    def test_one_process_may_have_several(self):
        self.own().save(1)
        self.own().save(2)
        self.assertEqual(self.own().resume(), None)

    def test_what_a_dead_writer_left_is_removed_and_that_of_others_is_not(self):
        left = [".snapshot-rank-0-of-2.new", f".snapshot-rank-0-of-2.{os.getpid()}.new",
                "snapshot-7-rank-0-of-2.safetensors.unfinished"]  # fmt: skip
        others = [".snapshot-rank-1-of-2.77.new", "snapshot-7-rank-0-of-20.safetensors.unfinished", "notes.new"]
        for name in left + others:
            with open(os.path.join(self.folder, name), "w", encoding="ascii"):
                pass
        self.own().save(3)
        self.assertEqual(
            set(os.listdir(self.folder)), {*others, ".rank-0-of-2.lock", "snapshot-3-rank-0-of-2.safetensors"}
        )


if __name__ == "__main__":
    unittest.main()
