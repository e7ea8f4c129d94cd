#!/usr/bin/env bash
# Builds and runs occupancy_check.cc against the toolkit's cuda_occupancy.h; skipped without one.
# usage: tests/sim/occupancy_check.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}

. grader/toolkit.sh
header=$cuda/include
if [ ! -e "$header/cuda_occupancy.h" ] || ! command -v "${CXX:-g++}" >/dev/null; then
    echo "occupancy check: skipped, there is no CUDA toolkit or no C++ compiler"
    exit 0
fi
mkdir -p "$build"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Igrader/sim -c -o "$build/occupancy_device.o" grader/sim/device.c
"${CXX:-g++}" -O2 -Wall -Wextra -Igrader/sim -isystem "$header" -o "$build/occupancy_check" \
    tests/sim/occupancy_check.cc "$build/occupancy_device.o"
keys=$(cd grader/sim/devices && ls -- *.txt | sed 's/\.txt$//')
# shellcheck disable=SC2086 # keys are words
"$build/occupancy_check" grader/sim/devices $keys
