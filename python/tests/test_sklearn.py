"""Objects that are pickled as a whole come back into the same objects."""

import random
import tempfile
import unittest

import outlast
import outlast.sklearn


class Counter:
    def __init__(self):
        self.counts = [0]


class Other:
    def __init__(self):
        self.counts = [7]


class Objects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def snapshots(self, *objects, **options):
        snapshots = outlast.sklearn.Snapshots(*objects, folder=self.folder, capacity=1 << 16, **options)
        self.addCleanup(snapshots.close)
        return snapshots

    def test_each_kind_is_put_back_in_place(self):
        counter, table, rows, chance = Counter(), {"a": 1}, [1, 2], random.Random(5)
        snapshots = self.snapshots(counter, table, rows, chance)
        snapshots.save(3)
        wanted = [chance.random() for _ in range(3)], random.random()
        counter.counts, counter.more = [9], 1
        table.update(b=2)
        rows.clear()
        self.assertEqual(snapshots.resume(), 3)
        self.assertEqual((vars(counter), table, rows), ({"counts": [0]}, {"a": 1}, [1, 2]))
        self.assertEqual(([chance.random() for _ in range(3)], random.random()), wanted)

    def test_generators_of_numpy_go_on(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed here")
        for generator in (numpy.random.default_rng(1), numpy.random.RandomState(1)):
            with self.subTest(type(generator).__name__), tempfile.TemporaryDirectory() as folder:
                with outlast.sklearn.Snapshots(generator, folder=folder) as snapshots:
                    snapshots.save(1)
                    wanted = generator.normal(size=5).tolist(), numpy.random.rand(5).tolist()
                    snapshots.resume()
                    self.assertEqual((generator.normal(size=5).tolist(), numpy.random.rand(5).tolist()), wanted)

    def test_what_cannot_be_changed_in_place_is_refused(self):
        for value in (1, "text", (1, 2)):
            with self.assertRaisesRegex(outlast.SnapshotError, "changed in place"):
                self.snapshots(value)

    def test_one_that_has_grown_too_large_is_told_by_its_name(self):
        rows = []
        snapshots = self.snapshots(parts={"rows": rows})
        snapshots.save(1)
        rows.append("x" * 100_000)
        with self.assertRaisesRegex(outlast.SnapshotError, "rows"):
            snapshots.save(2)

    def test_objects_in_another_order_or_of_another_type_are_refused_and_not_changed(self):
        counter, other, table = Counter(), Other(), {"a": 1}
        self.snapshots(counter, table, table).save(1)
        self.assertEqual(self.snapshots(counter, table, {}).resume(), 1)
        with self.assertRaisesRegex(outlast.SnapshotError, 'no "other"'):
            self.snapshots(other, table, {}).resume()
        self.snapshots(parts={"one": counter, "two": table}).save(2)
        fresh = Counter()
        fresh.counts = [3]
        with self.assertRaisesRegex(outlast.SnapshotError, "'two' is a dict in the snapshot, and a Other was given"):
            self.snapshots(parts={"one": fresh, "two": other}).resume()
        self.assertEqual((vars(other), fresh.counts), ({"counts": [7]}, [3]))

    def test_a_loop_is_resumed(self):
        counter = Counter()
        for until in (4, 9):
            snapshots = self.snapshots(counter)
            for _ in snapshots.steps(until):
                counter.counts[0] += 1
        self.assertEqual(counter.counts, [9])


if __name__ == "__main__":
    unittest.main()
