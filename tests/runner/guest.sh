#!/bin/bash
# guest.sh BUILD - replaces the guest by one that breaks the rules (rogue_guest.c) and checks the verdict of each
# violation. No violation gets a pass or makes the runner crash. On the simulated GPU; needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=$(cd "${1:-build}" && pwd)
. tests/check.sh
. grader/build/toolkit.sh
[ -n "$nvcc" ] && [ -x "$build/runner-sim" ] || { echo "guest: skipped, there is no nvcc"; exit 0; }

# A runner finds its guest and its libraries beside it.
mkdir "$work/programs"
cp -r "$build/runner-sim" "$build/sim" "$build/devices" "$work/programs"
cp "$build/rogue_guest" "$work/programs/guest-sim"
export WARPBOOK_BUILD=$build WARPBOOK_SIM_RUNNER=$work/programs/runner-sim WARPBOOK_PATIENCE=0.3
export WARPBOOK_ROGUE

# Copies are made for lab 05 alone.
lab=1
reference=([1]=solutions/01_coalescing/2_lanes_along_features.cu [5]=solutions/05_streams/4_eight_buffers.cu)
row() { # VERDICT DEED [PATTERN]: which the reason holds
    WARPBOOK_ROGUE=$2
    check "$2 is $1" gets "$1" "${3:-.}"
}
grade() {
    timeout 120 "$build/warpbook" grade "$lab" --device sim --format lines --submission "${reference[lab]}"
}
gets() { # VERDICT PATTERN
    grade > "$work/out" 2>&1
    grep -qE "^verdict:$1$" "$work/out" && grep -qE "^why:.*($2)" "$work/out" && return
    cat "$work/out"
    return 1
}

WARPBOOK_ROGUE=exits-at-hello check "one that does not start is the machine's fault" says "guest-sim, does not start" grade
row crash exits-at-load "its process"
row crash exits "its process exited with status 7"
row suspect hangs-up "closed the channel"
row timeout is-silent
row wrong claims-no-time "ever written"
row suspect answers-with-nothing "no time"
row suspect answers-with-too-much "not asked for"
row suspect says-what-no-guest-says "not asked for"
row suspect announces-four-gigabytes "more than an answer has"
row crash sends-half-a-frame "its process"
row crash blames-the-gpu "a kernel failed"
row crash fails-without-words
row suspect asks-for-no-call "does not allow"
row suspect asks-in-half "does not allow"
row suspect brings-half-a-program "does not allow"
row suspect names-a-module-that-is-none "does not allow"
row suspect copies-before-it-is-called "does not allow"
row suspect asks-anything "does not allow"
row suspect reads-beyond-an-array "does not allow"
lab=5
row "(wrong|suspect)" reads-the-runners-memory
row "(wrong|suspect)" writes-the-runners-memory
row "(unsafe|stray|wrong)" reads-beyond-an-array
row suspect copies-more-than-came "does not allow"
row "(wrong|suspect)" touches-what-is-no-array
row suspect asks-anything "does not allow"
finish
