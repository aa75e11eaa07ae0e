"""A Slurm cluster of one node on this machine, for as long as a test needs it: its own munged, slurmctld and slurmd,
on free ports, with everything in a scratch folder.

The Slurm is this machine's, or the newer one of a Debian root (slurm_root.py), in which it then runs.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))
import processes  # noqa: E402

CPUS = 4  # whatever the machine has: Slurm is told to believe it
GRACE_SECONDS = 25
KILL_WAIT_SECONDS = 5
PATIENCE = 90


class Missing(Exception):
    """Says in one sentence why there can be no cluster here."""


class Here:
    """This machine's own Slurm."""

    def check(self):
        if os.geteuid() != 0:
            raise Missing("only root can start a Slurm cluster")
        for program in ("slurmctld", "slurmd", "sbatch", "munged"):
            if not shutil.which(program):
                raise Missing(f"{program} is not installed: apt-get install slurm-wlm munge")

    def open(self, scratch, children):
        pass

    def command(self, words, folder="/"):
        return ["env", "-C", str(folder), *map(str, words)]

    def add_program(self, program, folder):
        shutil.copy(program, folder)
        return {}


def release_of(place):
    """(22, 5) of 22.05.8."""
    said = subprocess.run(place.command(["slurmctld", "-V"]), capture_output=True, text=True, check=True).stdout
    year, month = said.split()[1].split(".")[:2]
    return int(year), int(month)


class Cluster:
    def __init__(self, scratch, place):
        self.scratch = scratch
        self.place = place
        self.children = processes.Children(scratch)
        self.bin = scratch / "bin"
        self.bin.mkdir()
        self.has_started = False
        self.environment = {"PATH": f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(scratch),
                            "SLURM_CONF": str(scratch / "slurm.conf"), "LC_ALL": "C.UTF-8"}

    def add_program(self, program):
        self.environment.update(self.place.add_program(program, self.bin))

    def start(self):
        self.place.open(self.scratch, self.children)
        self.release = release_of(self.place)
        self.start_munged()
        (self.scratch / "slurm.conf").write_text(self.configuration(), encoding="ascii")
        if self.release >= (24, 5):
            (self.scratch / "cgroup.conf").write_text("CgroupPlugin=disabled\n", encoding="ascii")
        for folder in ("state", "spool"):
            (self.scratch / folder).mkdir()
        self.spawn("slurmctld", ["slurmctld", "-D", "-f", self.environment["SLURM_CONF"]])
        last = self.spawn("slurmd", ["slurmd", "-D", "-f", self.environment["SLURM_CONF"]])
        self.children.wait_until("Slurm", last, self.is_up)
        self.has_started = True

    def spawn(self, name, words):
        return self.children.spawn(name, self.place.command(words), environment=self.environment)

    def start_munged(self):
        folder = self.scratch / "munge"
        folder.mkdir(mode=0o700)
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o400)
        munged = self.spawn("munged", ["munged", "--foreground", "--force", f"--socket={folder}/socket",
                                       f"--key-file={folder}/key", f"--pid-file={folder}/pid",
                                       f"--log-file={folder}/log", f"--seed-file={folder}/seed"])
        self.children.wait_until("munged", munged, (folder / "socket").exists)

    def configuration(self):
        host = socket.gethostname().split(".")[0]
        scratch = self.scratch
        # How a preempted job is told by the signal that it ordered has changed its name.
        signals = ("PreemptParameters=send_user_signal" if self.release >= (23, 2)
                   else "SlurmctldParameters=preempt_send_user_signal")
        return f"""ClusterName=outlast-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={processes.free_port()}
SlurmdPort={processes.free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={scratch}/munge/socket
StateSaveLocation={scratch}/state
SlurmdSpoolDir={scratch}/spool
SlurmctldPidFile={scratch}/slurmctld.pid
SlurmdPidFile={scratch}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{signals}
KillWait={KILL_WAIT_SECONDS}
SchedulerParameters=sched_interval=1,sched_min_interval=1000
NodeName={host} NodeAddr=127.0.0.1 CPUs={CPUS} State=UNKNOWN
PartitionName=spot Nodes={host} Default=YES State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime={GRACE_SECONDS}
PartitionName=cancel Nodes={host} State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime={GRACE_SECONDS}
PartitionName=harsh Nodes={host} State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
PartitionName=urgent Nodes={host} State=UP PriorityTier=10 PreemptMode=OFF
"""

    def run(self, *words, environment=None, folder=None, check=True):
        """What a Slurm tool prints."""
        done = subprocess.run(self.place.command(words, folder or self.scratch), capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, env={**self.environment, **(environment or {})})
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def is_up(self):
        return "idle" in self.run("sinfo", "-h", "-o", "%T", check=False)

    def submit(self, *words, folder=None, environment=None):
        """The number of the job."""
        return self.run("sbatch", "--parsable", *words, folder=folder, environment=environment).strip()

    def job(self, number):
        """What Slurm says of it; nothing if it has forgotten it."""
        line = self.run("scontrol", "show", "job", "-o", number, check=False)
        return dict(word.split("=", 1) for word in line.split() if "=" in word)

    def stop(self):
        """Ends what runs first: nobody would be left to end it."""
        if self.has_started:
            self.run("scancel", "--user=root", check=False)
        end = time.monotonic() + PATIENCE
        while self.has_started and self.run("squeue", "-h", check=False).strip() and time.monotonic() < end:
            time.sleep(0.1)
        self.children.stop()
