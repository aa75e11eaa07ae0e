#!/bin/sh
# Counts, and adds up what it counted: the smallest trainer there is, in plain shell.
#
#   sh examples/counter.sh --steps 200 --pause 0.1
#   outlast run -- sh examples/counter.sh --steps 200 --pause 0.1
#
# After every few steps it saves its two numbers in checkpoints/counter.checkpoint, and begins where
# that file says. The checksum depends on every step before: one that is lost or done twice changes it.
#
# --polite shows what a trainer can do for itself: on SIGUSR1 it saves and goes on; on SIGTERM it saves
# and leaves with exit code 75, which says "go on with me elsewhere".
#
# usage: counter.sh [--steps N] [--save-every N] [--pause SECONDS] [--polite]
set -eu

steps=100 save_every=10 pause=0 polite=no
while [ $# -gt 0 ]; do
  case $1 in
    --steps) steps=$2; shift 2 ;;
    --save-every) save_every=$2; shift 2 ;;
    --pause) pause=$2; shift 2 ;;
    --polite) polite=yes; shift ;;
    *) echo "usage: counter.sh [--steps N] [--save-every N] [--pause SECONDS] [--polite]" >&2; exit 2 ;;
  esac
done

# Both are set by outlast; alone, the counter does without.
folder=${OUTLAST_CHECKPOINT_DIR:-checkpoints}
state=$folder/counter.checkpoint
mkdir -p "$folder"

step=0 checksum=1
if [ -f "$state" ]; then
  read -r step checksum <"$state"
  echo "resumed at step $step${OUTLAST_RESUME:+ (restored by outlast)}"
fi

# First under another name: whoever sees the final name sees all of the file.
save() {
  echo "$step $checksum" >"$state.tmp"
  mv "$state.tmp" "$state"
  echo "saved step $step"
}

save_now=no leave=no
if [ "$polite" = yes ]; then
  trap 'save_now=yes' USR1
  trap 'leave=yes' TERM
fi

while [ "$step" -lt "$steps" ]; do
  step=$((step + 1))
  checksum=$(((checksum * 31 + step) % 1000003))
  echo "step $step/$steps checksum $checksum"
  # A signal may end the pause early; that is no failure.
  [ "$pause" = 0 ] || sleep "$pause" || true
  if [ $((step % save_every)) -eq 0 ] || [ "$step" -eq "$steps" ] || [ "$save_now$leave" != nono ]; then
    save_now=no
    save
  fi
  if [ "$leave" = yes ] && [ "$step" -lt "$steps" ]; then exit 75; fi
done
echo "result $checksum"
