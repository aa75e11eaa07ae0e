"""Compares our signatures to those of botocore, azure-storage-blob and the openssl program.

usage: compare_signing.py SIGN_CASES sigv4|presign|shared_key|sas|jwt [--cases N] [--seed N]

Random requests, the same ones for one seed; the first that differs is shown whole.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def ask(program, cases):
    done = subprocess.run([program], input="".join(json.dumps(c) + "\n" for c in cases),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(cases):
        sys.exit(f"{program} gave {len(answers)} answers to {len(cases)} requests")
    return answers


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("program")
    parser.add_argument("kind")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.kind in ("sigv4", "presign"):
        import aws_peer as peer
    elif options.kind in ("shared_key", "sas"):
        import azure_peer as peer
    else:
        import jwt_peer as peer

    draw = random.Random(f"{options.kind}/{options.seed}")
    cases = [peer.make_case(draw, options.kind) for _ in range(options.cases)]
    for number, (case, ours) in enumerate(zip(cases, ask(options.program, cases))):
        ours, theirs = peer.ours(case, ours), peer.theirs(case)
        if ours != theirs:
            sys.exit(f"case {number} of seed {options.seed} differs\n"
                     f"request: {json.dumps(case, indent=1)}\nours:    {ours}\ntheirs:  {theirs}")
    print(f"{len(cases)} signatures are equal")


if __name__ == "__main__":
    main()
