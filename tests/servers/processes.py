"""Child processes that end with us, whatever ends us; ports; folders that a kill does not leak."""

import ctypes
import fcntl
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

UP_SECONDS_MAX = 90
STOP_SECONDS_MAX = 10
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class StartFailed(Exception):
    pass


def die_with_parent():
    # Runs in the child, before exec: a kill of ours that no handler sees ends the server too.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    """A port that nobody listens on, outside the range from which the kernel takes ports for
    outgoing connections: one of those could be gone again before the server binds."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Children:
    """The processes that we started, and nothing else, stopped in reverse order."""

    def __init__(self, folder):
        self.folder = folder
        self._children = []

    def spawn(self, name, command, environment=None, **options):
        log = open(self.folder / f"{name}.log", "ab")
        with log:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**clean_environment(), **(environment or {})}, preexec_fn=die_with_parent,
                start_new_session=True, **options)
        child.label = name
        self._children.append(child)
        return child

    def said(self, name):
        """The end of what it printed: for the message when it did not start."""
        log = self.folder / f"{name}.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n  ".join(lines[-12:])

    def wait_until(self, what, child, is_up):
        end = time.monotonic() + UP_SECONDS_MAX
        while True:
            if child.poll() is not None:
                raise StartFailed(f"{what} ended with {child.returncode} before it answered:\n  "
                                  + self.said(child.label))
            if is_up():
                return
            if time.monotonic() > end:
                raise StartFailed(f"{what} did not answer in {UP_SECONDS_MAX} s:\n  "
                                  + self.said(child.label))
            time.sleep(0.02)

    def wait_http(self, what, child, port):
        self.wait_until(what, child, lambda: answers_http(port))

    def stop(self):
        for child in reversed(self._children):
            if child.poll() is None:
                child.terminate()
        end = time.monotonic() + STOP_SECONDS_MAX
        for child in reversed(self._children):
            try:
                child.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children.clear()


def answers_http(port):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(f"http://127.0.0.1:{port}/", timeout=5).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


# Nothing of the caller's own clouds, proxies or certificates reaches a server or a test.
_FOREIGN = ("AWS_", "AZURE_", "AZURITE_", "GOOGLE_", "CLOUDSDK_", "GCS_", "GCE_", "STORAGE_EMULATOR_",
            "RCLONE_", "MINIO_", "ROOT_", "S3RVER_", "CEPH_", "FAKE_GCS_", "OUTLAST_TEST_STORE",
            "IDENTITY_", "IMDS_", "MSI_")
_FOREIGN_WHOLE = {"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
                  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}


def clean_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(_FOREIGN) and name.upper() not in _FOREIGN_WHOLE}


class TemporaryFolder:
    """Gone at the end; the next run sweeps away those of runs that were killed, which it knows by
    the lock that the kernel took off them."""

    PREFIX = "outlast-servers-"

    def __enter__(self):
        self._sweep()
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=self.PREFIX))
        self._lock = open(self.path / ".lock.new", "w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.rename(self.path / ".lock.new", self.path / ".lock")  # never seen without its lock
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def _sweep(self):
        for old in pathlib.Path(tempfile.gettempdir()).glob(self.PREFIX + "*"):
            try:
                with open(old / ".lock", "r+", encoding="utf-8") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(old, ignore_errors=True)
            except OSError:
                continue  # somebody else's, in use, or this very moment in the making
