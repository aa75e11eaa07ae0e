#!/usr/bin/env python3
"""Amazon's own mock of the metadata service (amazon-ec2-metadata-mock), where it is installed. usage: ec2_mock.py PROGRAM

It is not ours, and so it knows nothing of what we believe: it has no Date that we could count on, and the time that it
announces moves with every question. Skipped by name without it.
"""

import pathlib
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agent"))

import agent_rig  # noqa: E402  (the path is set above)
from agent_rig import LEFT, AgentTest  # noqa: E402

MOCK = shutil.which("ec2-metadata-mock")
SKIPPED = 77


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Ec2Mock(AgentTest):
    def test_its_notice_is_heard_and_its_moving_time_prolongs_nothing(self):
        port = free_port()
        mock = subprocess.Popen([MOCK, "spot", "-d", "4", "--action", "terminate", "-I", "-n", "127.0.0.1", "-p", str(port)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(mock.wait)
        self.addCleanup(mock.kill)
        self.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = f"http://127.0.0.1:{port}"
        trainer = self.trainer("""
save(load() + 1)
signal.signal(signal.SIGTERM, lambda *_: (save(load() + 1), sys.exit(75)))
forever()
""")
        run = self.ends(self.train(trainer, "--notice", "ec2"), LEFT)
        self.assertEqual([event["source"] for event in run.events("notice")], ["ec2"])
        self.assertEqual(self.restored(), {"state": "2"})


if __name__ == "__main__":
    if MOCK is None:
        print("Skipped: there is no program 'ec2-metadata-mock' (amazon-ec2-metadata-mock) in PATH")
        sys.exit(SKIPPED)
    agent_rig.main()
