#!/usr/bin/env python3
"""Opens sample pages of the drill's report in a real browser and checks what a reader would see.

usage: browse.py SAMPLE_PAGES [--screenshots FOLDER]

SAMPLE_PAGES is the program that writes them. With --screenshots a picture of each page at each
width in each colour scheme is left in the folder: for those who look. Ends with 77 and a sentence
if node, Playwright or Chromium is not here.
"""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "servers"))
import catalogue
from processes import TemporaryFolder, clean_environment, die_with_parent

SKIPPED = 77


def main(arguments):
    if len(arguments) not in (1, 3) or (arguments[1:2] not in ([], ["--screenshots"])):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        node, playwright = catalogue.node_command("playwright-core")
        browser = catalogue.need_program("chromium")
    except catalogue.Missing as missing:
        print(f"Skipped: {missing}", flush=True)
        return SKIPPED
    with TemporaryFolder() as folder:
        listed = subprocess.run([arguments[0], folder], stdout=subprocess.PIPE, check=True,
                                text=True)
        command = [node, str(HERE / "check_pages.js"), playwright, browser, str(folder)]
        command += [str(pathlib.Path(each).resolve()) for each in arguments[2:]]
        # The browser's own files, too, go where they are removed again.
        environment = {**clean_environment(), "TMPDIR": str(folder), "HOME": str(folder)}
        return subprocess.run(command, input=listed.stdout, text=True, env=environment, check=False,
                              preexec_fn=die_with_parent).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
