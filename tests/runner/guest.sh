#!/bin/bash
# guest.sh BUILD - replaces the guest with one that breaks the rules (rogue_guest.c) and checks the verdict of each
# violation. No violation gets a pass or makes the runner crash. On the simulated GPU; needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=$(cd "${1:-build}" && pwd)
. tests/check.sh
. grader/build/toolkit.sh
[ -n "$nvcc" ] && [ -x "$build/runner-sim" ] || { echo "guest: skipped, there is no nvcc"; exit 0; }

# A runner looks for its guest and its libraries in its own folder.
mkdir "$work/programs"
cp -r "$build/runner-sim" "$build/sim" "$build/devices" "$work/programs"
cp "$build/rogue_guest" "$work/programs/guest-sim"
export WARPBOOK_BUILD=$build WARPBOOK_SIM_RUNNER=$work/programs/runner-sim WARPBOOK_PATIENCE=0.3
export WARPBOOK_ROGUE

# Only lab 05 allows copies.
lab=1
reference=([1]=solutions/01_coalescing/2_lanes_along_features.cu [5]=solutions/05_streams/4_eight_buffers.cu)
row() { # VERDICT MISDEED [SAW]: SAW is a pattern for the words of `saw`
    WARPBOOK_ROGUE=$2
    check "$2 is $1" gets "$1" "${3:-.}"
}
grade() {
    timeout 120 "$build/warpbook" grade "$lab" --device sim --format lines --submission "${reference[lab]}"
}
gets() { # VERDICT SAW
    grade > "$work/out" 2>&1
    grep -qE "^verdict:$1$" "$work/out" && grep -qE "^saw:.*($2)" <(cat "$work/out"; grep -q "^saw:" "$work/out" || echo "saw:none") && return
    cat "$work/out"
    return 1
}

WARPBOOK_ROGUE=exits-at-hello check "one that does not start is the machine's fault" says "guest-sim, does not start" grade
row crash exits-at-load exited
row crash exits exited
row suspect hangs-up closed_channel
row timeout is-silent no_answer
row wrong claims-no-time unwritten
row suspect answers-with-nothing garbage
row suspect answers-with-too-much garbage
row suspect says-what-no-guest-says garbage
row suspect announces-four-gigabytes garbage
row crash sends-half-a-frame
row crash blames-the-gpu
row crash fails-without-words
row suspect asks-for-no-call garbage
row suspect asks-in-half garbage
row suspect brings-half-a-program garbage
row suspect names-a-module-that-is-none garbage
row suspect copies-before-it-is-called garbage
row suspect asks-anything garbage
row suspect reads-beyond-an-array garbage
lab=5
row "(wrong|suspect)" reads-the-runners-memory
row "(wrong|suspect)" writes-the-runners-memory
row "(unsafe|stray|wrong)" reads-beyond-an-array
row suspect copies-more-than-came garbage
row "(wrong|suspect)" touches-what-is-no-array
row suspect asks-anything garbage
finish
