#!/bin/bash
# two_devices.sh BUILD - stored times depend only on the kernel, the case and the device. If a course counts results
# of another simulated GPU than the one in use, one run uses both. If the time of a reference was lost, the reference
# is timed alone the next time, not after the earlier cases.
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
. tests/check.sh
. grader/build/toolkit.sh
if [ -z "$nvcc" ] || [ ! -x "$build/runner-sim" ]; then
    skip "two devices: there is no nvcc"
    finish
    exit
fi

# A workbook with one lab and a course file at its top, as in a students' kit.
tree=$work/tree
mkdir -p "$tree/labs" "$tree/solutions" "$tree/grader/sim" "$work/build"
cp -r common Makefile "$tree"
cp -r labs/06_transpose "$tree/labs"
cp -r solutions/06_transpose "$tree/solutions"
cp -r "$build/runner-sim" "$build/guest-sim" "$build/sim" "$build/devices" "$work/build"
# The device that counts has a quarter of the memory bandwidth and is otherwise identical, so objects that are
# built for one also serve the other.
awk '/^(memory|l2)_gbps:/ { print $1, $2 / 4; next } { print }' "$build/devices/teaching.txt" > "$work/build/devices/counting.txt"
printf '%s\n' "[course]" "name = Two" "device = sim:counting" > "$tree/course.ini"
cd "$tree" || exit 1
export WARPBOOK_BUILD=$work/build WARPBOOK_SIM_RUNNER=$work/build/runner-sim
rung=solutions/06_transpose/4_tile.cu
floors=$work/build/floor

graded() { "$build/warpbook" grade 6 --quick --submission $rung "$@"; }
ratios() { graded --device "$1" --format lines | sed -n 's/^case\.[0-9]*\.ratio://p'; }
kept() { (cd "$floors" && grep -r . . | sort); }

# ---- Two devices in one run ----

ratios sim:counting > "$work/counting"
ratios sim > "$work/practice"
verdict=$(graded --device sim:counting --format lines | sed -n 's/^verdict://p')
check "the devices differ" not cmp -s "$work/counting" "$work/practice"
for first in none sim; do # the device whose times are already stored
    rm -rf "$floors"
    [ $first = none ] || ratios $first > "$work/said"
    graded --device sim > "$work/both" 2>&1
    check "kept before: $first; what the course counts" holds "06 transpose: $verdict" "$work/both"
    ratios sim:counting > "$work/again"
    check "kept before: $first; and afterwards" cmp "$work/counting" "$work/again"
done
check "figures name their device" test "$(find "$floors" -name '*-sim-counting-*' | wc -l)" -gt 0 -a \
    "$(find "$floors" -name '*-sim-teaching-*' | wc -l)" -gt 0

# ---- A time does not depend on what was timed before ----

# The first case's time is still stored, so the second case is timed alone, on both devices.
kept > "$work/whole"
rm "$floors"/*-1-*
graded --device sim > "$work/said" 2>&1
kept > "$work/whole.again"
check "a case alone is timed as after the other" cmp "$work/whole" "$work/whole.again"

finish
