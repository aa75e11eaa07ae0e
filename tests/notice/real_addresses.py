#!/usr/bin/env python3
"""The addresses that clouds really use, in a network namespace where nothing says otherwise.

usage: real_addresses.py PROGRAM

A namespace has nothing but a loopback device, on which 169.254.169.254 is put as it is on a cloud's machine. Neither
the stand-in's nor the agent's environment says where the service is. Skipped by name where no namespace can be made.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agent"))

import agent_rig  # noqa: E402  (the path is set above)
from agent_rig import LEFT, AgentTest, wait_until  # noqa: E402

REAL = "169.254.169.254"
BY_NAME = "169.254.169.253"  # behind metadata.google.internal, and nowhere else
SKIPPED = 77


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def why_not():
    """Why there can be no namespace here; "" if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "there is no program 'ip' (package iproute2)"
    name = f"outlast-try-{os.getpid()}"
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except subprocess.CalledProcessError as error:
        return f"no network namespace can be made: {error.stderr.strip()}"
    return ""


class RealAddresses(AgentTest):
    def setUp(self):
        super().setUp()
        self.space = f"outlast-{os.getpid()}"
        ip("netns", "add", self.space)
        self.addCleanup(ip, "netns", "delete", self.space)
        ip("-n", self.space, "link", "set", "lo", "up")
        for name in list(self.environment):
            if name.startswith(("GCE_", "AWS_", "OUTLAST_", "NO_GCE")):
                del self.environment[name]
        # In a mount namespace of its own, in which no firmware says where we are.
        hide = 'for d in /sys/class/dmi/id /sys/hypervisor; do [ ! -d $d ] || mount -t tmpfs none $d; done; exec "$@"'
        self.prefix = ["ip", "netns", "exec", self.space, "sh", "-c", hide, "sh"]

    def stand_in(self, cloud, address):
        """Announces the end a few seconds after it was begun, as its cloud does."""
        ip("-n", self.space, "addr", "add", f"{address}/32", "dev", "lo")
        log = open(self.scratch / "stand-in", "w+", encoding="utf-8")
        self.addCleanup(log.close)
        service = subprocess.Popen([*self.prefix, agent_rig.PROGRAM, "stand-in", cloud, "--listen", f"{address}:80",
                                    "--preempt-after", "4s", "--notice-time", "25s"], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        wait_until("the stand-in's address", lambda: address in (self.scratch / "stand-in").read_text(encoding="utf-8"))

    def survives(self, cloud, *notice):
        trainer = self.trainer("""
save(load() + 1)
signal.signal(signal.SIGTERM, lambda *_: (save(load() + 1), sys.exit(75)))
forever()
""")
        run = self.train(trainer, *notice)
        self.ends(run, LEFT)
        self.assertIn(cloud, run.events("notice")[0]["source"])
        self.assertEqual(self.restored(), {"state": "2"}, "what it saved when it was asked to leave")
        return run

    def place(self):
        return self.attempts()[0]["place"]

    def test_gce_is_found_by_itself(self):
        self.stand_in("gce", REAL)
        self.survives("gce")
        self.assertEqual(self.place()["cloud"], "gcp")

    def test_gce_by_its_name_alone(self):
        folder = pathlib.Path("/etc/netns") / self.space
        folder.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, folder)
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{BY_NAME} metadata.google.internal\n", encoding="ascii")
        self.stand_in("gce", BY_NAME)
        self.survives("gce", "--notice", "gce")

    def test_ec2_is_found_by_itself(self):
        self.stand_in("ec2", REAL)
        self.survives("ec2")
        self.assertEqual(self.place()["cloud"], "aws")

    def test_azure_is_found_by_itself_and_told_to_go_ahead(self):
        self.stand_in("azure", REAL)
        run = self.survives("azure")
        self.assertEqual(self.place()["cloud"], "azure")
        self.assertEqual(len(run.events("released")), 1, run.said())

    def test_a_proxy_is_never_asked(self):
        self.environment.update({name: "http://127.0.0.1:9" for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY")})
        self.stand_in("ec2", REAL)
        self.survives("ec2", "--notice", "ec2")


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"Skipped: {reason}")
        sys.exit(SKIPPED)
    agent_rig.main()
