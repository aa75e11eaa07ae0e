"""The arena and the socket, with an agent that keeps the contract and agents that do not."""

import array
import os
import threading
import unittest

import outlast
from fake_agent import ANSWERS, BEGUN, DONE, LENGTH, OF_STEP, READING, SOON, STEP, FakeAgent


def small(**options):
    weights = array.array("f", range(100))
    snapshots = outlast.Snapshots(**options)
    snapshots.add("weights", weights)
    return snapshots, weights


class Hello(unittest.TestCase):
    def test_says_who_it_is_and_what_it_needs(self):
        with FakeAgent() as agent:
            snapshots, _ = small(rank=1, ranks=4)
            self.assertIsNone(snapshots.resume())
            hello = agent.hellos.get(timeout=SOON)
            self.assertEqual((hello["protocol"], hello["rank"], hello["ranks"], hello["sdk"]), (1, 1, 4, "python"))
            snapshots.save(1)
            self.assertLessEqual(agent.slot_word(0, LENGTH), hello["bytes"])
            self.assertTrue(snapshots.has_agent)
            self.assertEqual(snapshots.leave_code, 75)

    def test_the_welcome_says_the_leave_code(self):
        with FakeAgent(welcome={"leave_code": 99}):
            snapshots, _ = small()
            snapshots.resume()
            self.assertEqual(snapshots.leave_code, 99)

    def assert_refused(self, words, **agent):
        with FakeAgent(**agent):
            snapshots, _ = small()
            with self.assertRaisesRegex(outlast.SnapshotError, words):
                snapshots.resume()
            self.assertFalse(snapshots.has_agent)
            with self.assertRaisesRegex(outlast.SnapshotError, "ended before its welcome"):
                snapshots.save(1)

    def test_a_refusal_is_told_with_its_reason(self):
        self.assert_refused("refused this trainer: rank 0 is taken", refuse="rank 0 is taken")

    def test_an_agent_that_ends_before_its_welcome(self):
        self.assert_refused("ended the connection before its welcome", silent=True)

    def test_another_protocol(self):
        self.assert_refused("speaks protocol 2, and this package 1", welcome={"protocol": 2})

    def test_an_arena_of_another_version(self):
        self.assert_refused("of version 7, and this package knows 1", arena_words={1: 7})

    def test_no_arena(self):
        self.assert_refused("does not begin with OUTLAST1", arena_words={0: 5})

    def test_an_arena_of_a_wrong_size(self):
        self.assert_refused("12288 are needed", slots=1, arena_words={2: 2}, slot_bytes=4096)
        self.assert_refused("which cannot be", arena_words={2: 0})
        self.assert_refused("which cannot be", arena_words={3: 4097})

    def test_a_welcome_that_contradicts_its_arena(self):
        self.assert_refused("says 1 slots", welcome={"slots": 1})

    def test_slots_that_are_too_small(self):
        with FakeAgent(slot_bytes=4096):
            snapshots = outlast.Snapshots()
            snapshots.add("weights", bytearray(5000))
            with self.assertRaisesRegex(outlast.SnapshotError, "a slot of the arena has 4096"):
                snapshots.save(1)

    def test_a_socket_where_nobody_listens_is_no_agent(self):
        agent = FakeAgent()
        agent.close()
        os.environ["OUTLAST_SOCKET"] = agent.path
        self.addCleanup(os.environ.pop, "OUTLAST_SOCKET")
        self.assertFalse(small()[0].has_agent)


class Slots(unittest.TestCase):
    def test_snapshots_take_turns_and_are_whole(self):
        with FakeAgent() as agent:
            snapshots, weights = small()
            for step in (3, 4, 5):
                weights[0] = step
                snapshots.save(step)
                agent.told("saved")
                found, data, header = agent.newest()
                self.assertEqual(found, step)
                self.assertEqual(data["weights"], weights.tobytes())
                self.assertEqual(header["__metadata__"], {"outlast.step": str(step)})
            self.assertEqual([agent.slot_word(slot, OF_STEP) for slot in (0, 1)], [5, 4])
            self.assertEqual([agent.slot_word(slot, DONE) for slot in (0, 1)], [3, 2])
            self.assertEqual(agent.slot_word(0, ANSWERS), 0)

    def test_the_slot_that_is_read_is_left_alone(self):
        with FakeAgent() as agent:
            snapshots, _ = small()
            snapshots.save(1)
            snapshots.save(2)
            agent.words[READING] = 1
            snapshots.save(3)
            snapshots.save(4)
            self.assertEqual([agent.slot_word(slot, OF_STEP) for slot in (0, 1)], [1, 4])

    def test_one_slot_waits_until_it_is_not_read(self):
        with FakeAgent(slots=1) as agent:
            snapshots, _ = small()
            snapshots.save(1)
            agent.words[READING] = 1
            saving = threading.Thread(target=snapshots.save, args=(2,))
            saving.start()
            saving.join(0.1)
            self.assertTrue(saving.is_alive())
            self.assertEqual((agent.slot_word(0, BEGUN), agent.slot_word(0, OF_STEP)), (1, 1))
            agent.words[READING] = 0
            saving.join(SOON)
            self.assertEqual(agent.newest()[0], 2)

    def test_one_slot_that_a_dead_agent_read_is_not_waited_for(self):
        with FakeAgent(slots=1) as agent:
            snapshots, _ = small()
            snapshots.save(1)
            agent.words[READING] = 1
            snapshots.save_async(2)
            agent.hang_up()
            snapshots.before_update()
            self.assertEqual(agent.newest()[0], 1)

    def test_numbers_go_on_after_a_writer_that_died(self):
        with FakeAgent() as agent:
            snapshots, _ = small()
            snapshots.save(1)
            agent.words[32 + 8] = 2  # begun in the second slot, never done
            snapshots.save(5)
            self.assertEqual(agent.slot_word(1, DONE), 3)
            self.assertEqual(agent.newest()[0], 5)

    def test_the_step_is_where_the_agent_looks_for_it(self):
        with FakeAgent() as agent:
            snapshots, _ = small()
            snapshots.step_done(41)
            self.assertEqual(agent.words[STEP], 42)
            snapshots.progress(42)
            self.assertEqual(agent.words[STEP], 43)
            snapshots.save(43)
            self.assertEqual(agent.words[STEP], 44)


if __name__ == "__main__":
    unittest.main()
