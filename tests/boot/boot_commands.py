#!/usr/bin/env python3
"""What becomes of commands that systemd and cron start on a machine that really boots: words and exit codes.

usage: boot_commands.py PROBE
"""

import functools
import sys
import time

sys.dont_write_bytecode = True  # nothing of ours is left in the source tree

import machine  # noqa: E402
from machine import Trouble  # noqa: E402

PROBE = "/opt/outlast/boot_probe"
FOLDER = "/srv/50% of it's \\ $HOME"
WORDS = [
    "", " ", "a b", "a\tb", "'", "it's", '"', "\\", "\\\\", "a\\", "\\n", "\\'", '\\"', "%", "%%", "%h", "\\%", "\\\\%",
    "\\%\\%", "'%'", "$", "$HOME", "${HOME}", "$(ls)", "`ls`", ";", "; ls", "&&", "|", "#", "!", "*", "~", "{a,b}", "<in",
    "lr=1e-3", "é", "-", "@x", "+x", 'a="b c"', "\\x41", "'\\''",
]

# NUL cannot be in a word: it ends each.
SHOW = """printf '%s\\0' "$PWD" "$PATH" "$SECRET" "$HOME" "$@" >"/root/seen-$OUTLAST_BY"
"""
SHOW_FOR = "OUTLAST_BY={by}; export OUTLAST_BY; . /root/show.sh\n"
# An exit code, and how often systemd starts a command that ends with it.
STARTS = {0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 75: 2, 137: 2}
PATH = "/opt/a b/%h/$x:/usr/sbin:/usr/bin:/sbin:/bin"


def starts(host, code):
    return len(host.text(f"/root/starts-{code}").splitlines())


def words_seen(host, by):
    text = host.text(f"/root/seen-{by}")
    return text.split("\0")[:-1]


def story(probe, host):
    host.add_program(probe, PROBE)
    host.path(FOLDER).mkdir(parents=True)
    host.write("/root/show.sh", SHOW)
    for by in ("systemd", "cron"):
        host.write(f"/root/show-{by}.sh", SHOW_FOR.format(by=by))
        host.write(f"/etc/outlast/{by}.job.env", "SECRET='only here'\n", 0o600)

    host.boot()
    host.wait("systemd answers", lambda: is_up(host))
    for code in STARTS:
        host.write(f"/root/end-{code}.sh", f"echo start >>/root/starts-{code}; exit {code}\n")
        host.inside(PROBE, "install", f"end{code}", "/", "/bin/sh", f"/root/end-{code}.sh")
    print(host.inside(PROBE, "install", "systemd.job", FOLDER, "/bin/sh", "/root/show-systemd.sh", *WORDS))
    text = host.inside(PROBE, "cron-file", "cron.job", FOLDER, "/bin/sh", "/root/show-cron.sh", *WORDS)
    host.write("/etc/cron.d/outlast-cronDOTjob", text)
    host.power_off()

    host.boot()
    for by in ("systemd", "cron"):
        host.wait(f"{by} starts it", lambda by=by: words_seen(host, by)[-1:] == WORDS[-1:])
        wanted = [FOLDER, PATH, "only here", "/root", *WORDS]
        seen = words_seen(host, by)
        if seen != wanted:
            raise Trouble(f"{by}: {[(a, b) for a, b in zip(seen, wanted) if a != b]}, {len(seen)} of {len(wanted)} words")
    for code, count in sorted(STARTS.items(), key=lambda row: -row[1]):
        host.wait(f"start {count} with exit code {code}", lambda code=code, count=count: starts(host, code) >= count)
    time.sleep(2)  # after those that were started a second time, would others be?
    if any(starts(host, code) > 1 for code, count in STARTS.items() if count == 1):
        raise Trouble(f"started too often: { {code: starts(host, code) for code in STARTS} }")
    gone = host.inside(PROBE, "remove", "systemd.job").split()
    if len(gone) != 2 or host.path("/etc/systemd/system/outlast-systemd.job.service").exists():
        raise Trouble(f"removing removed {gone}")
    host.power_off()
    print(f"{len(WORDS)} words came through systemd and cron; starts by exit code: { {code: starts(host, code) for code in STARTS} }")


def is_up(host):
    try:
        host.inside("systemctl", "is-system-running")
    except Trouble as trouble:
        return "degraded" in str(trouble)
    return True


def main():
    machine.run(functools.partial(story, sys.argv[1]), ["outlast-systemd.job.service", "cron.service"])


if __name__ == "__main__":
    main()
