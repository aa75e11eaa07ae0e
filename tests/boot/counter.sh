#!/bin/sh
# A trainer: counts, and keeps a number that no step may be missing from or be in twice.
#
# usage: counter.sh STEPS FOLDER
#
# FOLDER/state/counter has the newest checkpoint, FOLDER/progress the step that it is at,
# FOLDER/lives when it started, left and ended, FOLDER/result the step and the number at the end.
set -eu
steps=$1 folder=$2
step=0 number=0 leave='' save=''
trap 'leave=1' TERM
trap 'save=1' USR1
mkdir -p "$folder/state"
if [ -r "$folder/state/counter" ]; then
  read -r step number <"$folder/state/counter"
fi
echo "start $step" >>"$folder/lives"

save() {
  echo "$step $number" >"$folder/state/counter.tmp"
  mv "$folder/state/counter.tmp" "$folder/state/counter"
  save=''
}

while [ "$step" -lt "$steps" ]; do
  if [ "$leave" ]; then
    save
    echo "left $step" >>"$folder/lives"
    exit 0
  fi
  step=$((step + 1))
  number=$(((number * 31 + step) % 1000003))
  echo "$step" >"$folder/progress"
  if [ "$save" ] || [ $((step % 20)) -eq 0 ]; then
    save
  fi
  sleep 0.05 || true
done
save
echo "$step $number" >"$folder/result"
echo "ended $step" >>"$folder/lives"
