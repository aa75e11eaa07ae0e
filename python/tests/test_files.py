"""Without outlast around: the same calls, and files."""

import array
import os
import tempfile
import unittest
from unittest import mock

import outlast
from fake_agent import parse


class Files(unittest.TestCase):
    def setUp(self):
        os.environ.pop("OUTLAST_SOCKET", None)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = os.path.join(scratch.name, "a", "folder")

    def trainer(self, **options):
        weights = array.array("i", range(10))
        snapshots = outlast.Snapshots(folder=self.folder, **options)
        snapshots.add("weights", weights)
        return snapshots, weights

    def steps(self, rank=0, ranks=1):
        end = f"-rank-{rank}-of-{ranks}.safetensors"
        return sorted(int(name[len("snapshot-") : -len(end)]) for name in os.listdir(self.folder) if name.endswith(end))

    def test_a_training_goes_on_where_it_was_saved(self):
        snapshots, weights = self.trainer()
        self.assertFalse(snapshots.has_agent)
        self.assertIsNone(snapshots.notice())
        self.assertFalse(snapshots.is_wanted(1))
        self.assertEqual(snapshots.leave_code, 75)
        self.assertIsNone(snapshots.resume())
        weights[3] = 77
        snapshots.save(12)
        weights[3] = 78
        again, restored = self.trainer()
        self.assertEqual(again.resume(), 12)
        self.assertEqual(restored[3], 77)
        with open(os.path.join(self.folder, "snapshot-12-rank-0-of-1.safetensors"), "rb") as file:
            data, header = parse(file.read())
        self.assertEqual(data["weights"], restored.tobytes())
        self.assertEqual(header["__metadata__"], {"outlast.step": "12"})

    def test_nothing_that_is_said_to_nobody_fails(self):
        snapshots, _ = self.trainer()
        snapshots.progress(1, 2, 0.5)
        snapshots.metrics(loss=1)
        snapshots.done()

    def test_the_two_newest_are_kept(self):
        snapshots, _ = self.trainer()
        for step in (9, 10, 100):
            snapshots.save_async(step)
            snapshots.before_update()
        self.assertEqual(self.steps(), [10, 100])
        self.assertEqual(len([name for name in os.listdir(self.folder) if "snapshot" in name]), 2)

    def test_a_training_that_begins_again_replaces_the_later_steps_of_the_last_one(self):
        snapshots, _ = self.trainer()
        snapshots.save(8)
        snapshots.save(9)
        snapshots.save(3)
        self.assertEqual(self.steps(), [3])

    def test_ranks_resume_from_the_newest_step_that_all_have(self):
        for rank, steps in ((0, (4, 6)), (1, (4, 5))):
            for step in steps:
                snapshots, weights = self.trainer(rank=rank, ranks=2)
                weights[0] = 1000 * rank + step
                snapshots.save(step)
        for rank in (0, 1):
            snapshots, weights = self.trainer(rank=rank, ranks=2)
            self.assertEqual(snapshots.resume(), 4)
            self.assertEqual(weights[0], 1000 * rank + 4)
        self.assertIsNone(self.trainer(rank=0, ranks=3)[0].resume())

    def test_ranks_never_resume_from_steps_of_two_trainings(self):
        first = [self.trainer(rank=rank, ranks=2)[0] for rank in (0, 1)]
        for snapshots in first:
            snapshots.save(90)
        first[0].save(100)  # the other one was killed before
        second = [self.trainer(rank=rank, ranks=2) for rank in (0, 1)]
        self.assertEqual([snapshots.resume() for snapshots, _ in second], [90, 90])
        self.assertEqual(self.steps(0, 2), [90])
        second[1][0].save(100)  # and now the first one
        self.assertEqual([self.trainer(rank=rank, ranks=2)[0].resume() for rank in (0, 1)], [90, 90])

    def test_the_newest_step_that_all_ranks_have_is_kept_however_far_one_is(self):
        ahead, behind = (self.trainer(rank=rank, ranks=2)[0] for rank in (0, 1))
        for step in (10, 20):
            ahead.save(step)
            behind.save(step)
        for step in (30, 40, 50):
            ahead.save(step)
        self.assertEqual(self.steps(0, 2), [20, 40, 50])
        behind.save(40)
        ahead.save(60)
        self.assertEqual(self.steps(0, 2), [40, 50, 60])
        self.assertEqual([self.trainer(rank=rank, ranks=2)[0].resume() for rank in (0, 1)], [40, 40])

    def test_without_a_step_that_all_ranks_have_each_sets_its_own_aside(self):
        for rank, step in ((0, 5), (1, 6)):
            self.trainer(rank=rank, ranks=2)[0].save(step)
        snapshots, _ = self.trainer(rank=0, ranks=2)
        self.assertIsNone(snapshots.resume())
        self.assertEqual((self.steps(0, 2), self.steps(1, 2)), ([], [6]))
        snapshots.save(6)
        aside = "snapshot-5-rank-0-of-2.safetensors.aside"
        self.assertEqual([name for name in os.listdir(self.folder) if "-5-" in name], [aside])
        self.assertEqual(self.trainer(rank=1, ranks=2)[0].resume(), 6)

    def test_what_does_not_fit_or_cannot_be_read_is_not_removed(self):
        self.trainer()[0].save(5)
        self.trainer()[0].save(6)
        other = outlast.Snapshots(folder=self.folder)
        other.add("others", bytearray(1))
        with self.assertRaises(outlast.SnapshotError):
            other.resume()
        with mock.patch("builtins.open", side_effect=PermissionError(13, "Permission denied")):
            with self.assertRaisesRegex(outlast.SnapshotError, "cannot read .*: Permission denied"):
                self.trainer()[0].resume()
        self.assertEqual(self.steps(), [5, 6])

    def test_step_done_saves_by_the_interval(self):
        with mock.patch("outlast._savers.time.monotonic") as clock:
            clock.return_value = 0.0
            snapshots, _ = self.trainer(file_interval=300)
            for step, now in enumerate((1, 299, 300, 301, 599, 601), start=1):
                clock.return_value = now
                self.assertTrue(snapshots.step_done(step))
        self.assertEqual(self.steps(), [3, 6])

    def test_several_ranks_save_nothing_by_themselves_and_say_so_once(self):
        snapshots, _ = self.trainer(rank=0, ranks=2, file_interval=0)
        with mock.patch("sys.stderr") as stderr:
            for step in range(1, 40):
                snapshots.step_done(step, 40)
        self.assertEqual(1, str(stderr.write.mock_calls).count("save nothing by themselves: set every_steps"))
        self.assertFalse(os.path.exists(self.folder))
        snapshots.step_done(40, 40)
        self.assertEqual(self.steps(0, 2), [40])

    def test_a_save_that_fails_leaves_nothing_behind(self):
        snapshots, _ = self.trainer()
        snapshots.save(1)
        before = sorted(os.listdir(self.folder))
        for broken in ("os.fsync", "os.rename"):
            with mock.patch(broken, side_effect=OSError(28, "No space left on device")):
                with self.assertRaisesRegex(outlast.SnapshotError, "No space left on device"):
                    snapshots.save(2)
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        snapshots.save(2)

    def test_every_so_many_steps(self):
        for ranks in (1, 2):
            snapshots, _ = self.trainer(rank=0, ranks=ranks, every_steps=5)
            for step in range(1, 12):
                snapshots.step_done(step)
            self.assertEqual(self.steps(0, ranks), [5, 10])

    def test_files_that_are_not_whole_are_named_and_passed_over(self):
        path = os.path.join(self.folder, "snapshot-5-rank-0-of-1.safetensors")
        for change in (-1, +1, -100, -1000):
            snapshots, _ = self.trainer()
            snapshots.save(4)
            snapshots.save(5)
            os.truncate(path, max(0, os.path.getsize(path) + change))
            with mock.patch("sys.stderr") as stderr:
                self.assertEqual(self.trainer()[0].resume(), 4)
            self.assertIn(f"{path} is no whole snapshot", str(stderr.write.mock_calls))

    def test_a_file_of_another_step_than_its_name_says_is_passed_over(self):
        snapshots, _ = self.trainer()
        snapshots.save(4)
        path = os.path.join(self.folder, "snapshot-%d-rank-0-of-1.safetensors")
        os.rename(path % 4, path % 9)
        with mock.patch("sys.stderr") as stderr:
            self.assertIsNone(self.trainer()[0].resume())
        self.assertIn("of another step", str(stderr.write.mock_calls))

    def test_ranks_pass_over_a_step_that_is_not_whole_in_one_of_them(self):
        for rank in (0, 1):
            snapshots, _ = self.trainer(rank=rank, ranks=2)
            snapshots.save(4)
            snapshots.save(5)
        os.truncate(os.path.join(self.folder, "snapshot-5-rank-1-of-2.safetensors"), 30)
        with mock.patch("sys.stderr"):
            self.assertEqual([self.trainer(rank=rank, ranks=2)[0].resume() for rank in (0, 1)], [4, 4])

    def test_a_folder_that_cannot_be_made_is_named(self):
        os.makedirs(os.path.dirname(self.folder))
        with open(self.folder, "w", encoding="utf-8"):
            pass
        snapshots, _ = self.trainer()
        for call in (lambda: snapshots.save(1), snapshots.resume):
            with self.assertRaisesRegex(outlast.SnapshotError, f"cannot save into {self.folder}"):
                call()

    def test_files_that_cannot_be_used_are_told(self):
        with mock.patch("sys.stderr") as stderr:
            self.assertIsNone(self.trainer()[0].resume())
        stderr.write.assert_not_called()
        self.trainer(rank=0, ranks=4)[0].save(5)
        for ranks, words in ((2, "has snapshots of a training with 4 ranks, and this one has 2: training begins anew"),
                             (4, "has no step that all of 4 ranks have, whole: what rank 1 has is set aside (.aside), and "
                                 "training begins anew")):  # fmt: skip
            with mock.patch("sys.stderr") as stderr:
                self.assertIsNone(self.trainer(rank=1, ranks=ranks)[0].resume())
            self.assertIn(f"outlast: {self.folder} {words}", str(stderr.write.mock_calls))

    def test_a_folder_that_cannot_be_written_to_is_told_before_training(self):
        os.makedirs(self.folder)
        with mock.patch("os.access", return_value=False):  # root may write anywhere
            with self.assertRaisesRegex(outlast.SnapshotError, f"cannot save into {self.folder}: Permission denied"):
                self.trainer()[0].resume()

    def test_a_socket_where_nobody_listens_is_told(self):
        with mock.patch.dict(os.environ, {"OUTLAST_SOCKET": "/nowhere/socket"}), mock.patch("sys.stderr") as stderr:
            snapshots, _ = self.trainer()
        self.assertIn(f"nobody listens at OUTLAST_SOCKET (/nowhere/socket): snapshots are files in {self.folder}",
                      str(stderr.write.mock_calls))  # fmt: skip
        snapshots.save(1)
        self.assertEqual(self.steps(), [1])

    def test_other_files_are_passed_over(self):
        os.makedirs(self.folder)
        for name in ("snapshot-x-rank-0-of-1.safetensors", "snapshot-07-rank-0-of-1.safetensors", "notes.txt",
                     ".snapshot-rank-0-of-1.new"):  # fmt: skip
            with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
                pass
        self.assertIsNone(self.trainer()[0].resume())


if __name__ == "__main__":
    unittest.main()
