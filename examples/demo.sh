#!/usr/bin/env bash
# A training that loses its machine twice and ends as if nothing had happened. ./dev demo runs it.
# usage: demo.sh OUTLAST TRAINER FOLDER     (FOLDER is emptied)
set -euo pipefail
outlast=$(realpath "$1") trainer=$(realpath "$2") folder=$(realpath -m "$3")
train=("$trainer" --epochs 12 --save-every 200 --pause-ms 2)
rm -rf "$folder"
mkdir -p "$folder"/{undisturbed,machine-A,machine-B,machine-C}

say() { printf '%s\n' "$*"; }
result_in() { sed -n 's/^result //p' "$1"; }
last_step_in() { sed -n 's|.*step \([0-9]*\)/.*|\1|p' "$1" | tail -1; }
resumed_in() { sed -n 's/^resuming from //p' "$1/outlast.log" | tail -1; }

# What a user types. Each "machine" is an empty folder; the root is what they share.
on_machine() {
  cd "$folder/machine-$1"
  exec "$outlast" run --root "$folder/root" --job digits --every 1s --notice signal --notice "file:$folder/machine-$1/preempt.txt" \
    -- "${train[@]}" >"$folder/$1.out" 2>"$folder/$1.events"
}
wait_for_steps() { # FILE STEPS: until the trainer has got so far
  until [[ -f $1 && $(last_step_in "$1") -ge $2 ]]; do sleep 0.1; done
}

say "A small network learns to read digits: 4,800 steps. First undisturbed and without outlast:"
(cd "$folder/undisturbed" && "${train[@]}" >"$folder/undisturbed.out")
say "    result $(result_in "$folder/undisturbed.out")"
say "Now with 'outlast run' on machine A, whose cloud wants it back in the middle, with 10 s of notice:"
(on_machine A) & pid=$!
wait_for_steps "$folder/A.out" 1200
echo 10s >"$folder/machine-A/preempt.txt"
code=0; wait "$pid" || code=$?
say "    trained to step $(last_step_in "$folder/A.out"), was told, saved, and left with exit code $code"
say "The same command on machine B, an empty folder, which vanishes without a word (kill -9):"
(on_machine B) & pid=$!
wait_for_steps "$folder/B.out" 3000
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
say "    resumed from $(resumed_in "$folder/machine-B"), and was gone at step $(last_step_in "$folder/B.out")"
say "The same command on machine C, an empty folder:"
(on_machine C)
say "    resumed from $(resumed_in "$folder/machine-C")"
say "    result $(result_in "$folder/C.out")"
if [[ $(result_in "$folder/undisturbed.out") != "$(result_in "$folder/C.out")" ]]; then
  say "The results differ: that must never happen. See $folder"
  exit 1
fi
say "The same weights, bit for bit. To look at what happened:"
say "    $1 events digits --root $3/root"
say "    $1 status digits --root $3/root"
