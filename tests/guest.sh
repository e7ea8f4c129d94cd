#!/bin/bash
# guest.sh BUILD - replaces the guest by one that breaks the rules (rogue_guest.c) and checks the verdict of each
# violation. No violation gets a pass or makes the runner crash. On the simulated GPU; needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/.."

build=$(cd "${1:-build}" && pwd)
. tests/check.sh
. grader/toolkit.sh
[ -n "$nvcc" ] && [ -x "$build/runner-sim" ] || { echo "guest: skipped, there is no nvcc"; exit 0; }

# A runner finds its guest and its libraries beside it.
mkdir "$work/programs"
cp -r "$build/runner-sim" "$build/sim" "$build/devices" "$work/programs"
cp "$build/rogue_guest" "$work/programs/guest-sim"
export WARPBOOK_BUILD=$build WARPBOOK_SIM_RUNNER=$work/programs/runner-sim WARPBOOK_PATIENCE=0.3
export WARPBOOK_ROGUE

row() { # VERDICT DEED [PATTERN]: which the reason holds
    WARPBOOK_ROGUE=$2
    check "$2 is $1" gets "$1" "${3:-.}"
}
grade() {
    timeout 120 "$build/warpbook" grade 1 --device sim --format lines \
        --submission solutions/01_coalescing/2_lanes_along_features.cu
}
gets() { # VERDICT PATTERN
    grade > "$work/out" 2>&1
    grep -q "^verdict:$1$" "$work/out" && grep -qE "^why:.*($2)" "$work/out" && return
    cat "$work/out"
    return 1
}

WARPBOOK_ROGUE=exits-at-hello check "one that does not start is the machine's fault" says "guest-sim, does not start" grade
row crash exits-at-load "its process"
row crash exits "its process ended by itself with status 7"
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
row suspect asks-for-no-call "no call of CUDA's"
row suspect asks-in-half "no call of CUDA's"
row suspect brings-half-a-program "no call of CUDA's"
row suspect names-a-module-that-is-none "no call of CUDA's"
row wrong reads-the-runners-memory "ever written"
row wrong writes-the-runners-memory "ever written"
row unsafe reads-beyond-an-array "after the end of .out."
row suspect copies-more-than-came "no call of CUDA's"
row suspect copies-before-it-is-called "no call of CUDA's"
row wrong touches-what-is-no-array "ever written"
row suspect asks-anything "no call of CUDA's"
finish
