"""What can be registered, what is refused, and what a snapshot of it looks like."""

import array
import os
import tempfile
import unittest
from unittest import mock

import outlast
from fake_agent import FakeAgent, parse

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

RANKS = ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID",
         "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")  # fmt: skip


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def snapshots(self, **arrays):
        snapshots = outlast.Snapshots(folder=self.folder)
        for name, one in arrays.items():
            snapshots.add(name, one)
        return snapshots

    def refused(self, words):
        return self.assertRaisesRegex(outlast.SnapshotError, words)

    def saved(self, snapshots, step=1):
        snapshots.save(step)
        with open(os.path.join(self.folder, f"snapshot-{step}-rank-0-of-1.safetensors"), "rb") as file:
            return file.read()


class Refused(Case):
    def test_registering_after_a_save_or_resume(self):
        for seal in (lambda snapshots: snapshots.save(1), lambda snapshots: snapshots.resume()):
            snapshots = self.snapshots(a=bytearray(1))
            seal(snapshots)
            with self.refused('"b" is registered too late'):
                snapshots.add("b", bytearray(1))
            with self.refused('"b" is registered too late'):
                snapshots.add_blob("b", bytes, print)

    def test_nothing_registered(self):
        for call in ("save", "save_async", "step_done"):
            with self.refused("nothing is registered"):
                getattr(self.snapshots(), call)(1)
        with self.refused("nothing is registered"):
            self.snapshots().resume()

    def test_names(self):
        snapshots = self.snapshots(a=bytearray(1))
        for name in ("", "__metadata__", None, 7, "\ud800"):
            with self.refused("cannot be a name"):
                snapshots.add(name, bytearray(1))
        with self.refused('"a" is registered already'):
            snapshots.add_object("a", dict, print)

    def test_memory_that_overlaps(self):
        memory = bytearray(100)
        snapshots = self.snapshots(a=memoryview(memory)[10:50])
        for begin, end in ((0, 11), (49, 60), (20, 30), (0, 100), (10, 50)):
            with self.refused('"b" shares memory with "a"'):
                snapshots.add("b", memoryview(memory)[begin:end])
        snapshots.add("b", memoryview(memory)[:10])
        snapshots.add("c", memoryview(memory)[50:])
        self.saved(snapshots)

    def test_arrays_that_cannot_be_written_into_or_copied(self):
        snapshots = self.snapshots()
        for wrong, words in (
            (b"abc", "cannot be written to"),
            (memoryview(bytearray(10))[::2], "not contiguous"),
            ([1, 2], "is a list"),
            (array.array("u", "abc"), "which a snapshot cannot hold"),
        ):
            with self.refused(words):
                snapshots.add("a", wrong)
        with self.refused("none of BOOL"):
            snapshots.add_custom("a", "F33", (1,), print, print)

    def test_a_blob_longer_than_it_may_be(self):
        blob = [b"12345"]
        snapshots = self.snapshots()
        snapshots.add_blob("blob", lambda: blob[0], print, capacity=5)
        before = self.saved(snapshots)
        for longer in (b"123456", "text"):
            blob[0] = longer
            with self.refused('"blob" (has 6 bytes now|returned a str)'):
                snapshots.save(2)
            with self.refused('"blob" (has 6 bytes now|returned a str)'):
                snapshots.save_async(2)
        self.assertEqual([name for name in os.listdir(self.folder) if "snapshot" in name], ["snapshot-1-rank-0-of-1.safetensors"])
        with self.refused("no number of bytes"):
            self.snapshots().add_blob("blob", bytes, print, capacity=-1)
        self.assertEqual(parse(before)[0], {"blob": b"12345"})

    def test_steps_that_are_none(self):
        snapshots = self.snapshots(a=bytearray(1))
        for step in (-1, 1.5, None, "3", 1 << 53):
            with self.refused("no number of a step"):
                snapshots.save(step)
            with self.refused("no number of a step"):
                snapshots.step_done(step)

    def test_buffers_keep_their_size(self):
        memory = bytearray(10)
        snapshots = self.snapshots(a=memory)
        with self.assertRaises(BufferError):
            memory.append(1)
        self.saved(snapshots)

    def test_a_child_made_by_fork(self):
        with FakeAgent() as agent:
            weights = bytearray(100)
            snapshots = self.snapshots(a=weights)
            snapshots.save(1)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    for call in (lambda: snapshots.save(2), lambda: snapshots.step_done(2), snapshots.resume):
                        try:
                            call()
                        except outlast.SnapshotError as error:
                            code += "child" in str(error)
                    snapshots.progress(9)
                    snapshots.done()
                    code += snapshots.has_agent or snapshots.notice() is not None or snapshots.is_wanted(3)
                    snapshots.close()
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1] >> 8, 4)
            snapshots.save(3)
            self.assertEqual(agent.newest()[0], 3)
            self.assertEqual([agent.told("saved")["type"] for _ in range(2)], ["saved"] * 2)
            self.assertTrue(agent.messages.empty())


class Ranks(Case):
    def test_the_environment_says_which_rank_this_is(self):
        for variables, found in (
            ({}, (0, 1)),
            ({"RANK": "3", "WORLD_SIZE": "8", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, (3, 8)),
            ({"RANK": "3", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "0"}, (1, 2)),
            ({"RANK": "", "WORLD_SIZE": "", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, (0, 1)),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "batch"}, (0, 1)),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "4294967291"}, (0, 1)),
            ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, (1, 4)),
        ):
            others = {name: value for name, value in os.environ.items() if name not in RANKS}
            with mock.patch.dict(os.environ, {**others, **variables}, clear=True):
                snapshots = self.snapshots(a=bytearray(1))
                snapshots.save(1)
                name = "snapshot-1-rank-%d-of-%d.safetensors" % found
                self.assertTrue(os.path.exists(os.path.join(self.folder, name)), name)

    def test_ranks_that_cannot_be(self):
        for rank, ranks in ((1, 1), (-1, 2), (0, 0)):
            with self.refused(f"rank {rank} of {ranks}"):
                outlast.Snapshots(rank=rank, ranks=ranks)
        for one in ({"rank": 0}, {"ranks": 1}):
            with self.refused("only one of rank and ranks"):
                outlast.Snapshots(**one)
        with mock.patch.dict(os.environ, {"RANK": "first", "WORLD_SIZE": "2"}):
            with self.refused("RANK and WORLD_SIZE are set, and are no numbers"):
                outlast.Snapshots()


class Layout(Case):
    def test_wider_elements_first_and_blobs_last_without_gaps(self):
        snapshots = self.snapshots(
            a=bytearray(3), b=array.array("h", [1]), c=array.array("d", [2.0]), d=array.array("f"), e=bytearray(b"e")
        )
        blob = [b"blob"]
        snapshots.add_blob("\u00fc \"quoted\"\n", lambda: blob[0], print)
        for step, length in ((7, 4), (123456, 1000), (8, 0)):
            blob[0] = b"x" * length
            content = self.saved(snapshots, step)
            _, header = parse(content)
            self.assertEqual(header.pop("__metadata__"), {"outlast.step": str(step)})
            self.assertEqual(list(header), ["c", "d", "b", "a", "e", "\u00fc \"quoted\"\n"])
            at = 0
            for entry in header.values():
                self.assertEqual(entry["data_offsets"][0], at)
                at = entry["data_offsets"][1]
            begin = 8 + int.from_bytes(content[:8], "little")
            self.assertEqual(begin % 64, 0)
            self.assertEqual(len(content), begin + at)

    def test_dtypes_of_buffers(self):
        kinds = {"b": "I8", "B": "U8", "h": "I16", "H": "U16", "i": "I32", "I": "U32", "q": "I64", "Q": "U64",
                 "l": "I64", "L": "U64", "f": "F32", "d": "F64"}  # fmt: skip
        snapshots = self.snapshots(**{f"_{kind}": array.array(kind, [1, 2]) for kind in kinds})
        snapshots.add("bool", memoryview(bytearray(2)).cast("?"))
        snapshots.add("matrix", memoryview(bytearray(12)).cast("h", shape=[3, 2]))
        header = parse(self.saved(snapshots))[1]
        self.assertEqual({kind: header[f"_{kind}"]["dtype"] for kind in kinds}, kinds)
        self.assertEqual((header["bool"]["dtype"], header["matrix"]["dtype"]), ("BOOL", "I16"))
        self.assertEqual(header["matrix"]["shape"], [3, 2])

    def test_a_hundred_thousand_tiny_tensors(self):
        # Neighbours, then some with gaps between them, then some of their own.
        memory = memoryview(bytearray(os.urandom(1200000)))
        tensors = [memory[8 * n : 8 * n + 8] for n in range(50000)]
        tensors += [memory[400000 + 16 * n : 400000 + 16 * n + 8] for n in range(40000)]
        tensors += [memoryview(bytearray(b"%08d" % n)) for n in range(10000)]
        with FakeAgent() as agent:
            snapshots = self.snapshots(**{f"t{n}": tensor for n, tensor in enumerate(tensors)})
            for step in (1, 2, 3):
                tensors[-1][0] = step
                snapshots.save(step)
                found, data, header = agent.newest()
                self.assertEqual((found, len(header)), (step, 100001))
                self.assertEqual(b"".join(data.values()), b"".join(tensors))


@unittest.skipIf(numpy is None, "numpy is not installed")
class Numpy(Case):
    def test_arrays_of_all_dtypes_come_back(self):
        dtypes = ("?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "c8")
        with FakeAgent():
            random = numpy.random.default_rng(5)
            arrays = {f"_{dtype}": random.integers(0, 2, (3, 5)).astype(dtype) for dtype in dtypes}
            arrays["scalar"] = numpy.array(5.0)
            arrays["empty"] = numpy.zeros((0, 4), "f4")
            first = self.snapshots(**arrays)
            first.save(1)
            first.close()
            others = {name: numpy.zeros_like(one) for name, one in arrays.items()}
            second = self.snapshots(**others)
            self.assertEqual(second.resume(), 1)
            for name, one in arrays.items():
                numpy.testing.assert_array_equal(one, others[name])

    def test_what_cannot_be(self):
        ones = numpy.ones((4, 4))
        fixed = numpy.ones(3)
        fixed.flags.writeable = False
        for wrong, words in (
            (ones.T, "not contiguous"),
            (ones[:, 1], "not contiguous"),
            (fixed, "cannot be written to"),
            (numpy.array([None]), "which a snapshot cannot hold"),
            (ones.astype(">f8"), "in another order"),
            (ones.astype("c16"), "which a snapshot cannot hold"),
        ):
            with self.refused(words):
                self.snapshots(a=wrong)
        with self.refused("shares memory"):
            self.snapshots(a=ones, b=ones[2:])

    def test_a_shape_that_changed(self):
        ones = numpy.ones((4, 6), "f4")
        snapshots = self.snapshots(a=ones)
        snapshots.save(1)
        ones.shape = (6, 4)
        with self.refused(r'"a" was registered as F32 \[4, 6\] and is \[6, 4\] now'):
            snapshots.save(2)
        self.assertEqual([name for name in os.listdir(self.folder) if "snapshot" in name], ["snapshot-1-rank-0-of-1.safetensors"])

    def test_metrics_may_be_numbers_of_numpy(self):
        with FakeAgent() as agent:
            snapshots = self.snapshots(a=bytearray(1))
            snapshots.resume()
            snapshots.step_done(numpy.int64(3), loss=numpy.float32(0.5), bad=numpy.float32("nan"))
            self.assertEqual(agent.told("progress")["step"], 3)
            self.assertEqual(agent.told("metrics")["values"], {"loss": 0.5})

    def test_large_arrays_are_copied_whole_by_threads(self):
        random = numpy.random.default_rng(7)
        arrays = {f"_{n}": random.integers(0, 255, size, "u1") for n, size in enumerate((9000001, 5, 20000, 8123457, 16385))}
        for threads in (1, 2, 3, 7):
            with FakeAgent() as agent:
                snapshots = outlast.Snapshots(threads=threads)
                for name, one in arrays.items():
                    snapshots.add(name, one)
                snapshots.save(1)
                self.assertEqual(agent.newest()[1], {name: one.tobytes() for name, one in arrays.items()})
                snapshots.close()
                others = {name: numpy.zeros_like(one) for name, one in arrays.items()}
                again = outlast.Snapshots(threads=threads)
                for name in reversed(list(others)):
                    again.add(name, others[name])
                again.resume()
                for name, one in arrays.items():
                    numpy.testing.assert_array_equal(one, others[name])
                again.close()


@unittest.skipIf(torch is None, "torch is not installed")
class Torch(Case):
    def test_tensors_come_back(self):
        with FakeAgent() as agent:
            tensors = {
                "bf16": torch.randn(5, 3).to(torch.bfloat16), "bool": torch.tensor([True, False]),
                "weight": torch.nn.Parameter(torch.randn(7, 9)), "count": torch.tensor(5), "none": torch.zeros(0),
            }  # fmt: skip
            first = self.snapshots(**tensors)
            first.save(1)
            self.assertEqual(agent.newest()[2]["bf16"]["dtype"], "BF16")
            first.close()
            others = {name: torch.zeros_like(one) for name, one in tensors.items()}
            self.assertEqual(self.snapshots(**others).resume(), 1)
            for name, one in tensors.items():
                self.assertTrue(torch.equal(one, others[name]), name)

    def test_what_cannot_be(self):
        ones = torch.ones(4, 4)
        with self.refused("not contiguous"):
            self.snapshots(a=ones.t())
        with self.refused("not contiguous"):
            self.snapshots(a=ones.to_sparse())
        with self.refused("is on meta"):
            self.snapshots(a=torch.ones(1, device="meta"))
        with self.refused("shares memory"):
            self.snapshots(a=ones, b=ones.view(16))

    def test_memory_that_moved_is_followed_and_a_new_shape_is_refused(self):
        weight = torch.nn.Parameter(torch.zeros(4))
        snapshots = self.snapshots(a=weight)
        snapshots.save(1)
        weight.data = torch.full((4,), 3.0)
        self.assertEqual(parse(self.saved(snapshots, 2))[0]["a"], array.array("f", [3] * 4).tobytes())
        weight.data = torch.zeros(5)
        with self.refused(r'"a" was registered as F32 \[4\] and is \[5\] now'):
            snapshots.save(3)
        weight.data = torch.zeros(4, dtype=torch.float64)
        with self.refused("registered as F32 and is F64 now"):
            snapshots.save(3)
        weight.data = torch.full((4,), 5.0)
        self.assertEqual(snapshots.resume(), 2)
        self.assertEqual(weight.tolist(), [3.0] * 4)


if __name__ == "__main__":
    unittest.main()
