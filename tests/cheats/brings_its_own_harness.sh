#!/bin/bash
# expect: only kernel.cu of a submission counts - a folder that brings a harness of its own
#
# A slow kernel next to a lab.c with a lower bar, a kernel.h with another prototype, a fill.h of zeros, a
# Makefile, a grader and a solution. Known (exploits 5, 24). Defence: the grader reads only kernel.cu of
# a submission, and copies it alone into a fresh folder. Needs neither nvcc nor a GPU where the scripted
# runner is built.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${WARPBOOK_BUILD:-build}
program=$build/warpbook fake=$build/fake_runner
[ -z "${WARPBOOK_RUNNER:-}" ] || fake=$WARPBOOK_RUNNER program=$(dirname "$WARPBOOK_RUNNER")/warpbook
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -x "$fake" ]; then
    echo "  --   brings_its_own_harness: make test builds the scripted runner that it needs"
    exit 0
fi
export WARPBOOK_RUNNER=$fake WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_BUILD=$work/build
missed=0

# Prints the verdict on the submission in $work/theirs.
verdict() {
    "$program" grade 6 --quick --format lines --submission "$work/theirs" 2>&1 | sed -n 's/^verdict://p'
}

try() { # NAME: the files next to the kernel must not change its verdict
    local got
    got=$(verdict)
    if [ "$got" = slow ] && [ ! -e "$work/ran" ]; then
        echo "  ok   brings_its_own_harness: $1"
    else
        echo "  BAD  brings_its_own_harness: $1: '$got', expected slow"
        missed=1
    fi
    rm -rf "$work/theirs" "$work/ran"
    begin
}

begin() { # a folder with a slow kernel in it
    lab=$work/theirs/labs/06_transpose
    mkdir -p "$lab"
    cp solutions/06_transpose/5_padded.cu "$lab/kernel.cu"
    echo "// fake: ms 5" >> "$lab/kernel.cu"
}

begin
sed 's/\.bar = [0-9.]*/.bar = 0.01/; s/0\.[5-9][0-9]*/0.01/g' labs/06_transpose/lab.c > "$lab/lab.c"
try "a lab.c with a lower bar"
sed 's/int rows, int cols/long rows, long cols/' labs/06_transpose/kernel.h > "$lab/kernel.h"
try "a kernel.h with another prototype"
mkdir -p "$work/theirs/common"
sed 's/return value;/return 0;/' common/fill.h > "$work/theirs/common/fill.h"
try "a common/fill.h of zeros"
printf 'all grade check-cheats:\n\ttouch %s/ran\n' "$work" | tee "$lab/Makefile" > "$work/theirs/Makefile"
try "a Makefile"
mkdir -p "$work/theirs/grader" "$work/theirs/build"
printf '#!/bin/sh\ntouch %s/ran\n' "$work" | tee "$work/theirs/build/runner" "$work/theirs/build/warpbook" \
    > "$work/theirs/grader/base/verdict.c"
chmod +x "$work/theirs/build/runner" "$work/theirs/build/warpbook"
try "a grader and its programs"
mkdir -p "$work/theirs/solutions/06_transpose"
cp "$lab/kernel.cu" "$work/theirs/solutions/06_transpose/5_padded.cu"
try "a reference as slow as the kernel"
exit $missed
