#!/usr/bin/env bash
# A training that loses its machine twice and ends as if nothing had happened. ./dev demo runs it.
# usage: demo.sh OUTLAST OUTLAST-TRAIN FOLDER     (FOLDER is emptied)
set -euo pipefail
outlast=$(realpath "$1") trainer=$(realpath "$2") folder=$(realpath -m "$3")
say() { printf '%s\n' "$*"; }

# The real pictures, where somebody has them; otherwise made-up ones.
data=synthetic epochs=20
for place in "${OUTLAST_CIFAR10:-}" "$PWD/cifar-10-batches-bin" "$HOME/.cache/cifar-10-batches-bin"; do
  if [[ -n $place && -f $place/test_batch.bin ]]; then
    data=$place epochs=4
    break
  fi
done
train=("$trainer" cifar10 --data "$data" --epochs "$epochs" --eval-steps 2500 --threads 1 --job-dir job)
rm -rf "$folder"
mkdir -p "$folder"/{undisturbed,machine-A,machine-B,machine-C}

result_in() { sed -n 's/^result //p' "$1"; }
accuracy_in() { sed -n 's/^test accuracy \([0-9.]*\),.*/\1/p' "$1"; }
last_step_in() { sed -n 's|^step \([0-9]*\)/.*|\1|p' "$1" | tail -1; }
resumed_in() { sed -n 's/^resuming from \(step [0-9]*\).*/\1/p' "$1"; }

# What a user types. Each "machine" is an empty folder; the root is what they share.
on_machine() {
  cd "$folder/machine-$1"
  exec "$outlast" run --root "$folder/root" --job cifar10 --every 1s --notice signal --notice "file:$folder/machine-$1/preempt.txt" \
    -- "${train[@]}" >"$folder/$1.out" 2>"$folder/$1.events"
}
wait_for_steps() { # PID FILE STEPS: until the trainer has got so far
  until [[ -f $2 && $(last_step_in "$2") -ge $3 ]]; do
    kill -0 "$1" 2>/dev/null || { say "The training ended too soon. See $folder"; exit 1; }
    sleep 0.05
  done
}

if [[ $data == synthetic ]]; then
  say "A CNN learns to tell 10 kinds of pictures apart. They are made up: CIFAR-10 is not on this machine"
  say "('outlast-train cifar10 --download --data ~/.cache' fetches it). First undisturbed and without outlast:"
else
  say "A CNN learns the 10 classes of CIFAR-10 ($data). First undisturbed and without outlast:"
fi
(cd "$folder/undisturbed" && "${train[@]}" >"$folder/undisturbed.out" 2>"$folder/undisturbed.err")
steps=$(last_step_in "$folder/undisturbed.out")
say "    $steps steps, test accuracy $(accuracy_in "$folder/undisturbed.out"), result $(result_in "$folder/undisturbed.out")"
say "Now with 'outlast run' on machine A, whose cloud wants it back in the middle, with 10 s of notice:"
(on_machine A) & pid=$!
wait_for_steps "$pid" "$folder/A.out" $((steps / 4))
echo 10s >"$folder/machine-A/preempt.txt"
code=0; wait "$pid" || code=$?
say "    $(sed -n 's/^left after \(step [0-9]*\).*/trained to \1/p' "$folder/A.events"), was told, saved, and left with exit code $code"
say "The same command on machine B, an empty folder, which vanishes without a word (kill -9):"
(on_machine B) & pid=$!
wait_for_steps "$pid" "$folder/B.out" $((steps * 3 / 5))
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
say "    resumed from $(resumed_in "$folder/B.events"), and was gone after step $(last_step_in "$folder/B.out")"
say "The same command on machine C, an empty folder:"
(on_machine C)
say "    resumed from $(resumed_in "$folder/C.events")"
say "    test accuracy $(accuracy_in "$folder/C.out"), result $(result_in "$folder/C.out")"
if [[ $(result_in "$folder/undisturbed.out") != "$(result_in "$folder/C.out")" ]]; then
  say "The results differ: that must never happen. See $folder"
  exit 1
fi
say "The same weights, bit for bit. To look at what happened:"
say "    $1 events cifar10 --root $3/root"
say "    $1 status cifar10 --root $3/root"
say "    the curves of the training: $3/machine-C/job/plot.svg"
