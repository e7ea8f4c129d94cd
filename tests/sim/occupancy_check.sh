#!/usr/bin/env bash
# Builds and runs occupancy_check.cc with the toolkit's cuda_occupancy.h; skipped without a toolkit.
# usage: tests/sim/occupancy_check.sh BUILD_FOLDER [FOLDER]
# FOLDER: solutions or a folder in it: checks each kernel there instead, with the registers and shared
# memory of its cubin. The kernels are compiled, which takes minutes.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}

. grader/build/toolkit.sh
header=$cuda/include
if [ ! -e "$header/cuda_occupancy.h" ] || ! command -v "${CXX:-g++}" >/dev/null; then
    echo "occupancy check: skipped, no CUDA toolkit or C++ compiler found"
    exit 0
fi
mkdir -p "$build"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Igrader -c -o "$build/occupancy_device.o" grader/sim/device/device.c
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Igrader -c -o "$build/occupancy_elf.o" grader/sim/binary/elf.c
"${CXX:-g++}" -O2 -Wall -Wextra -Igrader -isystem "$header" -o "$build/occupancy_check" \
    tests/sim/occupancy_check.cc "$build/occupancy_device.o" "$build/occupancy_elf.o"
keys=$(cd grader/sim/devices && ls -- *.txt | sed 's/\.txt$//')
if [ -z "${2:-}" ]; then
    # shellcheck disable=SC2086 # keys are words
    exec "$build/occupancy_check" grader/sim/devices $keys
fi

cubins=
for file in $(find "$2" -name '*.cu' | sort); do
    lab=$(echo "${file#*solutions/}" | cut -d/ -f1)
    cubin=$build/occupancy/${file%.cu}.cubin
    mkdir -p "$(dirname "$cubin")"
    if grep -q '^// expect: build' "$file"; then
        continue # it must not compile
    fi
    [ "$cubin" -nt "$file" ] ||
        "$nvcc" -O3 -cubin -arch=sm_80 -Icommon "-Ilabs/$lab" -o "$cubin" "$file" || exit 1
    cubins="$cubins $cubin"
done
# shellcheck disable=SC2086 # keys and paths are words
exec "$build/occupancy_check" grader/sim/devices $keys --cubins $cubins
