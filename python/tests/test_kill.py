"""A trainer that is killed at any moment, also within save(), leaves a whole snapshot behind."""

import os
import random
import signal
import subprocess
import sys
import time
import unittest

from fake_agent import BEGUN, DONE, OF_STEP, FakeAgent, parse

ROUNDS = int(os.environ.get("OUTLAST_KILLS", "20"))
SIZE = 4 << 20

TRAINER = """
import ctypes, sys, outlast
size = int(sys.argv[1])
parts = [bytearray(size) for _ in range(3)] + [bytearray(8) for _ in range(50)]
step = 0
snapshots = outlast.Snapshots()
for n, part in enumerate(parts):
    snapshots.add(f"part{n}", part)
snapshots.add_blob("blob", lambda: b"%d" % step * (step % 7), lambda data: None)
step = snapshots.resume() or 0
for part in parts:
    assert set(part[:10]) == {step % 251}, (step, part[:10])
print(step, flush=True)
while True:
    step += 1
    for part in parts:
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(part)), step % 251, len(part))
    if step % 2:
        snapshots.save(step)
    else:
        snapshots.save_async(step)
        snapshots.before_update()
"""


class Kill(unittest.TestCase):
    def check(self, step, snapshot):
        data, header = parse(snapshot)
        self.assertEqual(header["__metadata__"]["outlast.step"], str(step))
        self.assertEqual(data.pop("blob"), b"%d" % step * (step % 7))
        self.assertEqual(len(data), 53)
        for name, part in data.items():
            self.assertTrue(part == bytes([step % 251]) * len(part), f"{name} is torn, or not of step {step}")

    def test_kill_9_at_random_moments(self):
        chance = random.Random(8)
        torn, read, last = 0, 0, 0
        with FakeAgent() as agent:
            for round in range(ROUNDS):
                trainer = subprocess.Popen(
                    [sys.executable, "-c", TRAINER, str(SIZE)], stdout=subprocess.PIPE, env=dict(os.environ)
                )
                self.assertEqual(int(trainer.stdout.readline() or -1), last)
                agent.told("saved")
                if round % 4 == 0:
                    for _ in range(10):
                        found = agent.read()
                        if found:
                            self.check(*found)
                            read += 1
                time.sleep(chance.uniform(0, 0.02))
                trainer.send_signal(signal.SIGKILL)
                trainer.wait()
                trainer.stdout.close()
                while not agent.messages.empty():
                    agent.messages.get()
                _, slot = agent.whole()[-1]
                last = agent.slot_word(slot, OF_STEP)
                self.check(last, agent.bytes_of(slot))
                torn += any(agent.slot_word(other, BEGUN) != agent.slot_word(other, DONE) for other in (0, 1))
        print(f"{ROUNDS} kills, {torn} of them within a save, {read} reads beside", file=sys.stderr)
        self.assertGreater(torn, 0)
        self.assertGreater(read, 0)


if __name__ == "__main__":
    unittest.main()
