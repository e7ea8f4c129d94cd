#!/bin/bash
# compare.sh - plays the blind set on simulated GPUs and compares time and counters with those of the hardware.
#
#     tests/sim/blind/compare.sh [--sealed] BUILD [NAME...]
#
# Run it from the repository's root. Without --sealed it plays the open launches, which may be used to improve the model.
# --sealed plays all, for the figures of a release, and prints those of the sealed ones separately. NAME: only these.
# It needs `make BUILD/libcudart-sim.so`; the fixtures are open-*.txt and, with --sealed, sealed.txt (FIXTURES=FOLDER:
# elsewhere).
# A launch that the simulator refuses is listed. Reports remain in BUILD/blind/run. PLAYED=1: compares those again.
# Exit status 1: nothing was compared, or a result is wrong.
set -u
state=open
[ "${1:-}" != --open ] || shift
[ "${1:-}" != --sealed ] || { state=sealed; shift; }
build=$(cd "${1:?the build folder}" && pwd)
shift
here=tests/sim/blind
work=$build/blind
fixtures=${FIXTURES:-$here}
export LC_ALL=C

skip()
{
    echo "blind: skipped, $*"
    exit 0
}

[ -f $here/compare.sh ] || { echo "compare.sh: run it from the repository's root"; exit 2; }
command -v jq > /dev/null || skip "jq not found (make setup)"
hardware=("$fixtures"/open-*.txt)
[ -f "${hardware[0]}" ] || skip "$fixtures/open-1.txt not found"
[ $state = open ] || [ -f "$fixtures/sealed.txt" ] || {
    echo "compare.sh: $fixtures/sealed.txt not found: the sealed launches are not measured yet. Next: on_gpu.sh"
    exit 1
}
[ $state = open ] || hardware+=("$fixtures/sealed.txt")
. grader/build/toolkit.sh
[ -n "$nvcc" ] || [ -x "$work/blind" ] || skip "nvcc not found"
nice $here/build.sh "$build" sim || exit 1
mkdir -p "$work/run"

# names: the launches to play
names()
{
    local wanted=$1
    shift
    sed -n 's/^CASE(\([a-z]*\), \([a-z]*\), \([a-z0-9_]*\))$/\3 \2 \1/p' $here/cases.def |
        awk -v state="$wanted" -v only=" $* " '(state == "sealed" || $2 == state) && (only == "  " || index(only, " " $1 " "))'
}

# device_of NAME: the key of the device on which it was measured
device_of()
{
    grep -h -e '^# device' -e "^time $1 " "${hardware[@]}" /dev/null |
        sed -n -e 's/^# device: NVIDIA \([A-Za-z0-9]*\).*/\L\1/' -e '/^time/{x;p;q}' -e h
}

# play NAME DEVICE. Two launches each, of which the second is timed; its own process, and thus a report of its own.
play()
{
    local name=$1 at=$work/run/$1
    rm -f "$at.json"
    LD_PRELOAD=$build/libcudart-sim.so SIM_DEVICE=$2 SIM_WHOLE=1 SIM_TIME=1 SIM_CHECKS=none SIM_QUIET=1 \
        SIM_REPORT=$at.json timeout 300 nice "$work/blind" --times 1 "$name" > "$at.out" 2> "$at.err" ||
        echo "refused $name: status $?: $(tr '\n' ' ' < "$at.err" | head -c 200)"
}
export -f play
export build work

names $state "$@" > "$work/names"
[ -n "${PLAYED:-}" ] || cut -d' ' -f1 "$work/names" | while read -r name; do echo "$name $(device_of "$name")"; done |
    xargs -P "$(nproc)" -L 1 bash -c 'play "$@"' -

# `NAME COUNTS...`: sums of all kernels of the report
cut -d' ' -f1 "$work/names" | while read -r name; do
    [ -s "$work/run/$name.json" ] || continue
    jq -r -s --arg name "$name" '
        def kind(which): map(.global[which] // {}) | [map(.requests // 0), map(.sectors // 0)] | map(add);
        def shared(which): map(.shared[which].wavefronts // 0) | add;
        [.[] | select(.record == "kernel")] | select(length > 0) |
        [$name, (map(.machine_instructions) | add), (map(.machine_threads) | add)] + kind("load") + kind("store") +
        kind("atomic") + kind("copy") +
        [(shared("load") + (map(.shared_loop_wavefronts) | add)), shared("store"), shared("atomic"),
         (map(.ffma_threads) | add)] | join(" ")' "$work/run/$name.json"
done > "$work/counted"
cut -d' ' -f1 "$work/names" | sed "s|.*|$work/run/&.out|" | xargs cat 2> /dev/null | grep '^launch' > "$work/launched"
awk -f $here/statistics.awk -f $here/compare.awk "$work/names" "$work/launched" "$work/counted" $here/pairs.txt "${hardware[@]}"
