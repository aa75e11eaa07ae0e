#!/usr/bin/env bash
# Installs the C++ SDK, moves it, builds the example against it with CMake and with pkg-config, and runs both,
# which must train alike.
set -euo pipefail
source_dir=$1 build_dir=$2 compiler=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() {
  echo "install_test: $*" >&2
  exit 1
}

cmake --install "$build_dir" --component sdk --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
cp -r "$source_dir/examples/sdk_cpp" "$work/example"

CXX=$compiler cmake -S "$work/example" -B "$work/build" -D CMAKE_PREFIX_PATH="$work/prefix" >"$work/cmake.log" 2>&1 &&
  cmake --build "$work/build" >>"$work/cmake.log" 2>&1 || die "with find_package: $(cat "$work/cmake.log")"

pc=$(find "$work/prefix" -name outlast.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs outlast)
# shellcheck disable=SC2086  # they are several words
"$compiler" -std=c++17 -Wall -Wextra -Werror -o "$work/train" "$work/example/train.cc" $flags ||
  die "with pkg-config: $flags"

# Without outlast around it, whatever is around this test.
unset OUTLAST_SOCKET RANK WORLD_SIZE SLURM_PROCID SLURM_NTASKS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
for program in "$work/build/train" "$work/train"; do
  mkdir "$work/run"
  (cd "$work/run" && "$program" --steps 30 >out) || die "$program failed"
  grep -q '^step 30/30 loss ' "$work/run/out" || die "$program did not train: $(tail -3 "$work/run/out")"
  grep -q '^result [0-9a-f]\{16\}$' "$work/run/out" || die "$program says no result"
  mv "$work/run/out" "$work/out.$(basename "$(dirname "$program")")"
  rm -rf "$work/run"
done
cmp "$work"/out.build "$work/out.$(basename "$work")" || die "both are the same program, and train differently"
"$work/train" --steps x 2>/dev/null && die "a bad option was taken"
echo "install_test: all good"
