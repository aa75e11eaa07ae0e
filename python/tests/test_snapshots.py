"""What a trainer sees of it, with an agent."""

import array
import contextlib
import math
import os
import threading
import time
import unittest
from unittest import mock

import outlast
from fake_agent import ANSWERS, DEADLINE, SOON, STEP, FakeAgent


class Trainer:
    """With some of each kind of state."""

    def __init__(self, **options):
        self.weights = array.array("d", range(1000))
        self.flags = bytearray(b"abc")
        self.note = b""
        self.settings = {"rate": 0.5}
        self.hidden = [1, 2, 3]
        self.snapshots = outlast.Snapshots(**options)
        self.snapshots.add("flags", self.flags)
        self.snapshots.add("weights \N{GREEK SMALL LETTER OMEGA}", self.weights)
        self.snapshots.add_blob("note", lambda: self.note, lambda data: setattr(self, "note", data), capacity=100)
        self.snapshots.add_object("settings", lambda: self.settings, lambda value: setattr(self, "settings", value))
        self.snapshots.add_custom("hidden", "I16", (3,), self.copy_out, self.copy_in)

    def copy_out(self, to):
        to.cast("h")[:] = array.array("h", self.hidden)

    def copy_in(self, source):
        self.hidden = list(source.cast("h"))

    def change(self, step):
        self.weights[7] = step
        self.flags[0] = step
        self.note = b"x" * step
        self.settings["rate"] = step / 2
        self.hidden[1] = step

    def content(self):
        return (self.weights.tobytes(), bytes(self.flags), self.note, self.settings, self.hidden)


class WithAgent(unittest.TestCase):
    def setUp(self):
        self.agent = FakeAgent()
        self.agent.__enter__()
        self.addCleanup(self.agent.__exit__)

    def answers(self):
        return self.agent.slot_word(self.agent.whole()[-1][1], ANSWERS)


class Resume(WithAgent):
    def test_all_kinds_of_state_come_back_to_another_process(self):
        first = Trainer()
        self.assertIsNone(first.snapshots.resume())
        for step in (3, 12, 5):
            first.change(step)
            first.snapshots.save(step)
        first.snapshots.close()
        second = Trainer()
        self.agent.words[STEP] = 99
        self.assertEqual(second.snapshots.resume(), 5)
        self.assertEqual(self.agent.words[STEP], 6)
        self.assertEqual(second.content(), first.content())

    def test_a_snapshot_of_another_state_changes_nothing(self):
        first = Trainer()
        first.snapshots.save(1)
        first.snapshots.close()
        for name, other, words, blob_bytes in (
            ("flags", bytearray(4), r'"flags" is U8 \[3\] in the snapshot in the arena, and was registered as U8 \[4\]', 99),
            ("flag", bytearray(3), 'has no "flag"', 99),
            (None, None, 'has "flags", which is not registered', 99),
            ("flags", bytearray(3), r'"settings" has \d+ bytes in .*, and was registered with at most 10', 10),
        ):
            weights = array.array("d", [0] * 1000)
            snapshots = outlast.Snapshots()
            snapshots.add("weights \N{GREEK SMALL LETTER OMEGA}", weights)
            if name:
                snapshots.add(name, other)
            for blob in ("note", "settings"):
                snapshots.add_blob(blob, bytes, self.fail, capacity=blob_bytes)
            snapshots.add_custom("hidden", "I16", (3,), self.fail, self.fail)
            with self.assertRaisesRegex(outlast.SnapshotError, words):
                snapshots.resume()
            self.assertEqual(set(weights), {0})
            snapshots.close()


    def test_an_object_that_cannot_be_read_or_is_refused_changes_nothing(self):
        first = Trainer()
        first.snapshots.add_object("last", lambda: {"kind": 1}, self.fail)
        first.change(9)
        first.snapshots.save(1)
        first.snapshots.close()

        def refuse(value):
            raise outlast.SnapshotError(f"{value} is of another kind")

        for loads, words in ((None, "{'kind': 1} is of another kind"), (OSError("odd"), '"settings" in .* \\(OSError: odd')):
            second = Trainer()
            before = second.content()
            second.snapshots.add_object("last", dict, self.fail, check=refuse)
            with mock.patch("pickle.loads", side_effect=loads) if loads else contextlib.nullcontext():
                with self.assertRaisesRegex(outlast.SnapshotError, words):
                    second.snapshots.resume()
            self.assertEqual(second.content(), before)
            second.snapshots.close()


class Async(WithAgent):
    def test_blobs_are_taken_at_once_and_tensors_before_the_update(self):
        trainer = Trainer()
        trainer.change(3)
        may_copy, thread = threading.Event(), []

        def copy_out(to):
            thread.append(threading.current_thread())
            may_copy.wait(SOON)
            Trainer.copy_out(trainer, to)

        trainer.snapshots._state._tensors[-1].copy_out = copy_out
        trainer.snapshots.save_async(3)
        trainer.note, trainer.settings = b"later", {}
        self.assertEqual(self.agent.whole(), [])
        may_copy.set()
        trainer.snapshots.before_update()
        self.assertNotEqual(thread, [threading.current_thread()])
        step, data, _ = self.agent.newest()
        self.assertEqual((step, data["note"], data["flags"]), (3, b"xxx", b"\x03bc"))
        self.assertEqual(data["weights \N{GREEK SMALL LETTER OMEGA}"], trainer.weights.tobytes())

    def test_what_goes_wrong_is_told_before_the_update(self):
        trainer = Trainer()

        def broken(_):
            raise OSError("the device is gone")

        trainer.snapshots._state._tensors[-1].copy_out = broken
        trainer.snapshots.save_async(3)
        with self.assertRaisesRegex(OSError, "the device is gone"):
            trainer.snapshots.before_update()
        self.assertEqual(self.agent.whole(), [])
        trainer.snapshots._state._tensors[-1].copy_out = trainer.copy_out
        trainer.snapshots.save(4)
        self.assertEqual(self.agent.newest()[0], 4)

    def test_a_save_within_a_save_is_refused_and_harms_nothing(self):
        trainer = Trainer()

        def copy_out(to):
            with self.assertRaisesRegex(outlast.SnapshotError, "being taken already"):
                trainer.snapshots.save(9)
            Trainer.copy_out(trainer, to)

        trainer.snapshots._state._tensors[-1].copy_out = copy_out
        trainer.snapshots.save(3)
        self.assertEqual((len(self.agent.whole()), self.agent.newest()[0]), (1, 3))

    def test_leaving_the_block_waits_for_the_save_and_does_not_say_done(self):
        with outlast.Snapshots() as snapshots:
            snapshots.add("a", bytearray(10 << 20))
            snapshots.save_async(1)
        self.assertEqual(self.agent.newest()[0], 1)
        self.assertEqual(self.agent.told("saved"), {"type": "saved", "seconds": 0.0})
        self.assertTrue(self.agent.messages.empty())
        with self.assertRaisesRegex(outlast.SnapshotError, "closed"):
            snapshots.save(2)


class Wishes(WithAgent):
    def test_a_wish_is_answered_once_from_its_step_on(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        self.agent.ask(2, step=5)
        self.assertFalse(trainer.snapshots.is_wanted(4))
        self.assertFalse(trainer.snapshots.is_wanted("5"))
        self.assertTrue(trainer.snapshots.is_wanted(5))
        for step in range(1, 8):
            self.assertTrue(trainer.snapshots.step_done(step))
        self.assertEqual((self.agent.newest()[0], self.answers()), (5, 2))
        self.assertFalse(trainer.snapshots.is_wanted(8))

    def test_who_asks_and_saves_tells_how_far_it_is(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        self.assertEqual(self.agent.words[STEP], 0)
        trainer.snapshots.is_wanted(7)
        self.assertEqual(self.agent.words[STEP], 8)
        trainer.snapshots.save(8)
        self.assertEqual(self.agent.words[STEP], 9)
        trainer.snapshots.save_async(9)
        self.assertEqual(self.agent.words[STEP], 10)

    def test_an_odd_wish_ends_the_trainer_after_the_snapshot(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        self.agent.ask(3, step=2)
        trainer.snapshots.step_done(1)
        with self.assertRaises(SystemExit) as raised:
            trainer.snapshots.step_done(2)
        self.assertIsInstance(raised.exception, outlast.Leave)
        self.assertEqual(raised.exception.code, 75)
        self.assertEqual((self.agent.newest()[0], self.answers()), (2, 3))
        self.assertFalse(trainer.snapshots.step_done(3, leave=False))
        self.assertEqual(self.agent.newest()[0], 2)
        trainer.snapshots.done()
        trainer.snapshots.metrics(last=1)
        while True:
            message = self.agent.messages.get(timeout=SOON)
            self.assertNotEqual(message["type"], "done")
            if message["type"] == "metrics":
                break

    def test_a_wish_that_save_answered_still_ends_the_trainer(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        self.agent.ask(5)
        trainer.snapshots.save(9)
        self.assertEqual(self.answers(), 5)
        self.assertFalse(trainer.snapshots.step_done(9, leave=False))

    def test_a_new_trainer_does_not_answer_what_the_last_one_did(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        self.agent.ask(2)
        trainer.snapshots.save(1)
        trainer.snapshots.close()
        other = Trainer()
        other.snapshots.resume()
        self.assertFalse(other.snapshots.is_wanted(2))

    def test_every_so_many_steps(self):
        trainer = Trainer(every_steps=3, ranks=2, rank=0)
        for step in range(1, 9):
            trainer.snapshots.step_done(step)
        self.assertEqual(len(self.agent.whole()), 2)
        self.assertEqual(self.agent.newest()[0], 6)

    def test_one_process_saves_as_often_as_costs_little_and_several_do_not(self):
        for ranks, saved in ((1, [1]), (2, [])):
            agent = FakeAgent()
            with agent, mock.patch("outlast._savers.time.monotonic") as clock:
                clock.return_value = 100.0
                trainer = Trainer(rank=0, ranks=ranks)
                trainer.snapshots.step_done(1)
                self.assertEqual(agent.whole(), [])
                clock.return_value = 101.5
                trainer.snapshots.step_done(2)
                trainer.snapshots.step_done(3)
                self.assertEqual([number for number, _ in agent.whole()], saved)

    def test_a_notice_says_when_the_machine_ends(self):
        trainer = Trainer()
        self.assertIsNone(trainer.snapshots.notice())
        trainer.snapshots.resume()
        self.assertIsNone(trainer.snapshots.notice())
        self.agent.words[DEADLINE] = int((time.time() + 3600) * 1000)
        notice = trainer.snapshots.notice()
        self.assertTrue(3000 < notice.seconds_left <= 3600)
        self.assertIsNotNone(notice.ends.tzinfo)
        self.agent.words[DEADLINE] = (1 << 64) - 1
        self.assertIsNone(trainer.snapshots.notice())


class Telling(WithAgent):
    def test_progress_and_metrics_and_the_end(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        trainer.snapshots.step_done(3, 10, loss=0.5)
        self.assertEqual(self.agent.told("progress"), {"type": "progress", "step": 3, "total": 10})
        self.assertEqual(self.agent.told("metrics"), {"type": "metrics", "values": {"loss": 0.5}})
        trainer.snapshots.progress(4, epoch=1.5)
        self.assertEqual(self.agent.told("progress"), {"type": "progress", "step": 4, "epoch": 1.5})
        trainer.snapshots.done()
        self.assertEqual(self.agent.told("done"), {"type": "done"})

    def test_metrics_that_are_no_finite_numbers_are_left_out(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        trainer.snapshots.metrics(a=math.nan, b=math.inf, c="red", d=None, e=True, f=1 << 2000, **{"gr\u00fcn": 2})
        self.assertEqual(self.agent.told("metrics")["values"], {"e": 1.0, "gr\u00fcn": 2.0})
        trainer.snapshots.progress(-1)
        trainer.snapshots.progress(5, total=-5)
        trainer.snapshots.progress(6, epoch=math.nan)
        self.assertEqual(self.agent.told("progress"), {"type": "progress", "step": 6})

    def test_very_many_metrics_arrive_in_several_messages(self):
        trainer = Trainer()
        trainer.snapshots.resume()
        trainer.snapshots.metrics(**{f"metric_{n}": n for n in range(250)})
        values = {}
        while len(values) < 250:
            values.update(self.agent.told("metrics")["values"])
        self.assertEqual(values["metric_249"], 249)


class DeadAgent(WithAgent):
    def test_the_trainer_goes_on_and_saves_nothing_any_more(self):
        folder = os.path.join(self.agent.folder.name, "files")
        trainer = Trainer(folder=folder, file_interval=0, every_steps=1)
        trainer.snapshots.save(1)
        self.agent.ask(3)
        self.agent.hang_up()
        with mock.patch("sys.stderr") as stderr:
            for step in (2, 3):
                self.assertTrue(trainer.snapshots.step_done(step, 3))
            trainer.snapshots.save(4)
            trainer.snapshots.save_async(5)
            trainer.snapshots.done()
        self.assertEqual(1, str(stderr.write.mock_calls).count("training goes on, but nothing is saved any more"))
        self.assertFalse(trainer.snapshots.has_agent)
        self.assertFalse(trainer.snapshots.is_wanted(6))
        self.assertEqual((self.agent.newest()[0], len(self.agent.whole())), (1, 1))
        self.assertFalse(os.path.exists(folder))


if __name__ == "__main__":
    unittest.main()
