"""A machine that really boots: Debian with systemd, in a container of systemd-nspawn.

Its disk is a folder, so that what happens on it can be seen from outside. It is made once, into
$OUTLAST_TEST_BOOT or ~/.cache/outlast/boot, and copied for every test. Cutting its power ends every
process at once, but loses nothing that was written: unsynced data is the simulator's business.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# A new number when what the machine is made of changes.
BASE_VERSION = "1"
PACKAGES = "systemd-sysv,dbus,cron"
UP_SECONDS = 60
OFF_SECONDS = 120


class Missing(Exception):
    """Says in one sentence why such a machine cannot be had here."""


class Trouble(Exception):
    pass


def suite():
    """The host's own, because the host's program and libraries are copied in."""
    release = pathlib.Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)", release, re.M)
    if not found or not re.search(r"^ID=debian", release, re.M):
        raise Missing("this is not Debian, whose packages the machine is made of")
    return found[1]


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def base():
    """The folder with the machine as it is before any test; made if it is not there."""
    if os.geteuid() != 0:
        raise Missing("only root can boot a machine in a container")
    if not shutil.which("systemd-nspawn"):
        raise Missing("systemd-nspawn is not installed: apt-get install systemd-container")
    chosen = os.environ.get("OUTLAST_TEST_BOOT")
    cache = pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache/outlast/boot"
    made = cache / f"{suite()}-{BASE_VERSION}"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = pathlib.Path(tempfile.mkdtemp(dir=cache, prefix="draft-"))
        try:
            make_base(draft / "root")
            (draft / "root").rename(made)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    tried = subprocess.run([*nspawn(made), "/bin/true"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, check=False)
    sweep_cgroups()
    if tried.returncode != 0:
        raise Missing(f"systemd-nspawn cannot start a container here: {last_line(tried.stderr)}")
    return made


def make_base(folder):
    if shutil.which("mmdebstrap"):
        command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", suite(), str(folder)]
    elif shutil.which("debootstrap"):
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite(), str(folder)]
    else:
        raise Missing("there is nothing to make a machine with: apt-get install mmdebstrap")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{command[0]} could not make a machine: {last_line(done.stderr)}")
    # With a number of its own it does not take each boot for its first; with a folder for it, the
    # journal outlives the machine. boot_probe looks for the last one.
    (folder / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (folder / "var/log/journal").mkdir(exist_ok=True)
    (folder / "boot-test").touch()


def nspawn(folder):
    command = ["systemd-nspawn", "--quiet", "--register=no", "--private-network", "--console=pipe", "-D", str(folder)]
    if not os.path.isdir("/run/systemd/system"):
        command.insert(1, "--keep-unit")  # nobody is there to ask for a unit
    return command


def sweep_cgroups():
    """Removes what nspawn leaves where no systemd does that. Those in use stay: rmdir refuses."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        mount = {"name=systemd": "systemd", "": "unified"}.get(names)
        if mount is None:
            continue
        for group in ("payload", "supervisor"):
            top = pathlib.Path("/sys/fs/cgroup") / mount / path.strip("/") / group
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


class Machine:
    def __init__(self, scratch):
        self.disk = pathlib.Path(scratch) / "disk"
        self.console = pathlib.Path(scratch) / "console"
        self.container = None
        subprocess.run(["cp", "-a", "--reflink=auto", str(base()), str(self.disk)], check=True)

    def path(self, inside):
        return self.disk / inside.lstrip("/")

    def text(self, inside):
        """What a file on the disk says by now; nothing if it is not there."""
        with contextlib.suppress(FileNotFoundError):
            return self.path(inside).read_text()
        return ""

    def write(self, inside, text, mode=0o644):
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        self.path(inside).write_text(text)
        self.path(inside).chmod(mode)

    def add_program(self, program, inside):
        """With the shared libraries that the machine does not have."""
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, self.path(inside))
        needs = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"=> (/\S+)", needs):
            if not self.path(library).exists():
                self.path(library).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, self.path(library))
        subprocess.run(["ldconfig", "-r", str(self.disk)], check=True)

    def add_unit(self, name, text):
        self.write(f"/etc/systemd/system/{name}", text)
        wants = self.path("/etc/systemd/system/multi-user.target.wants")
        wants.mkdir(parents=True, exist_ok=True)
        (wants / name).symlink_to(f"../{name}")

    def boot(self):
        with open(self.console, "ab") as console:
            self.container = subprocess.Popen([*nspawn(self.disk), "--boot"], stdin=subprocess.DEVNULL,
                                              stdout=console, stderr=console)

    def is_on(self):
        return self.container is not None and self.container.poll() is None

    def wait(self, what, is_so, seconds=UP_SECONDS):
        """Until it is so, on a machine that stays on."""
        end = time.monotonic() + seconds
        while not is_so():
            if not self.is_on():
                raise Trouble(f"the machine is off, before {what}")
            if time.monotonic() > end:
                raise Trouble(f"not in {seconds} s: {what}")
            time.sleep(0.05)

    def wait_off(self, why, seconds=OFF_SECONDS):
        try:
            code = self.container.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Trouble(f"the machine is still on {seconds} s after {why}") from None
        self.container = None
        sweep_cgroups()
        return code

    def init(self):
        """The host's number for the first process on it."""
        pid = self.container.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if len(children) != 1:
            raise Trouble(f"the container has {len(children)} children, not one")
        return int(children[0])

    def inside(self, *command):
        """Runs it on the machine, as a person would who is logged in."""
        done = subprocess.run(["nsenter", "-a", "-t", str(self.init()), *command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"'{' '.join(command)}' ended with {done.returncode}: {last_line(done.stderr)}")
        return done.stdout

    def power_off(self):
        """As the button does, or a cloud that stops it: everything is asked to end."""
        os.kill(self.init(), signal.SIGRTMIN + 4)
        self.wait_off("it was asked to power off")

    def cut_power(self):
        """All its processes die with the first."""
        os.kill(self.init(), signal.SIGKILL)
        self.wait_off("its power was cut")

    def journal(self, unit):
        """What a unit wrote, in all lives."""
        done = subprocess.run(["journalctl", "-D", str(self.path("/var/log/journal")), "--no-pager", "-o", "short",
                               "-u", unit], capture_output=True, text=True, check=False)
        return done.stdout

    def close(self):
        if self.is_on():
            self.container.terminate()  # nspawn powers it off, or kills it
            try:
                self.container.wait(OFF_SECONDS)
            except subprocess.TimeoutExpired:
                self.container.kill()
                self.container.wait()
        sweep_cgroups()


def skip(reason):
    print(f"Skipped: {reason}")
    sys.exit(77)


def run(story, units):
    """Plays the story on a new machine, or skips where there can be none."""
    with tempfile.TemporaryDirectory(prefix="outlast-boot-") as scratch:
        try:
            machine = Machine(scratch)
        except Missing as missing:
            skip(missing)
        try:
            story(machine)
        except Trouble as trouble:
            for unit in units:
                print(f"--- {unit}\n{machine.journal(unit)}", file=sys.stderr)
            sys.exit(f"{trouble}")
        finally:
            machine.close()
