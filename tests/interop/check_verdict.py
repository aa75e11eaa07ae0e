"""outlast store check calls the good servers safe, and names what the others break.

usage: check_verdict.py OUTLAST safe
       check_verdict.py OUTLAST unsafe CHECK…    (through tests/servers/run)

CHECK is one that must be BROKEN: "create if absent".
"""

import os
import subprocess
import sys


def main(outlast, verdict, *broken):
    url = os.environ["OUTLAST_TEST_STORE"] + "/root"
    done = subprocess.run([outlast, "store", "check", url], capture_output=True, text=True,
                          check=False)
    said = done.stdout + done.stderr
    if done.returncode != (0 if verdict == "safe" else 1):
        sys.exit(f"the exit code is {done.returncode}, which is not {verdict}:\n{said}")
    lines = said.splitlines()
    for check in broken:
        if not any(line.startswith("BROKEN") and f"  {check}  " in line for line in lines):
            sys.exit(f"'{check}' is not called BROKEN:\n{said}")
    print(f"{url} is {verdict}, as it should be")


if __name__ == "__main__":
    main(*sys.argv[1:])
