#!/bin/bash
# merged.sh - lists kernels whose machine code has other memory accesses than the PTX, which is counted.
#
#     tests/sim/merged.sh BUILD [--list]
#
# Run it from the repository's root. It compiles the PTX of every lab kernel and of the patterns for sm_80
# and sm_90, counts the accesses in both (see accesses.c), and compares the differences with
# merged.expected; --list prints them instead. In a lab that asks about bank conflicts or grades them, no
# accesses to shared memory may be merged, since pitches there are known only at run time.
set -u
build=$(cd "${1:?the build folder}" && pwd)
here=tests/sim
work=$build/counters
export LC_ALL=C

[ -f $here/merged.sh ] || { echo "merged.sh: run it from the repository's root"; exit 2; }
. grader/build/toolkit.sh
[ -n "$nvcc" ] || { echo "merged accesses: skipped, nvcc not found"; exit 0; }
ptxas=$cuda/bin/ptxas
nice $here/counters/build.sh "$build" "$work" "$(nproc)" 8.0 || exit 1
mkdir -p "$work/merged"
[ "$work/accesses" -nt $here/accesses.c ] ||
    gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$work/accesses" $here/accesses.c || exit 1

# differences LABEL OBJECT: prints one line per difference. Results for the same PTX are reused.
differences()
{
    local sm at
    at=$work/merged/$(echo "$1" | tr / .)
    [ "$at.lines" -nt "$2" ] && [ "$at.lines" -nt "$work/accesses" ] && return
    "$work/accesses" --ptx "$2" > "$at.ptx" || return
    rm -f "$at.lines"
    grep -q '\.entry' "$at.ptx" || return
    for sm in 80 90; do
        "$ptxas" -O3 -arch "sm_$sm" -o "$at.cubin" "$at.ptx" &&
            "$work/accesses" "$at.ptx" "$at.cubin" | sed "s|^|$1: sm_$sm: |" ||
            echo "$1: sm_$sm: FAILED"
    done > "$at.new"
    mv "$at.new" "$at.lines"
}
export -f differences
export work ptxas
{
    awk '{ print $1, $3 }' "$work/objects"
    echo "patterns $work/patterns"
} > "$work/merged.list"
xargs -P "$(nproc)" -L 1 bash -c 'differences "$@"' - < "$work/merged.list"

# Results in the order of the list; mangled names do not depend on the machine.
while read -r label object; do
    cat "$work/merged/$(echo "$label" | tr / .).lines" 2> /dev/null
done < "$work/merged.list" > "$work/merged.found"
if [ "${2:-}" = --list ]; then
    cat "$work/merged.found"
    exit 0
fi

status=0
made=$(sed -n 's/.* Made by nvcc \([0-9.]*\)\.$/\1/p' $here/merged.expected)
if ! "$nvcc" --version | grep -q "release $made,"; then
    echo "merged accesses: not compared, since merged.expected was made by nvcc $made"
else
    diff <(grep -v '^#' $here/merged.expected) "$work/merged.found" > "$work/merged.diff" || {
        echo "merged accesses: differences from tests/sim/merged.expected (< expected, > found):"
        cat "$work/merged.diff"
        status=1
    }
fi
for lab in $(grep -lE 'SHARED_WAVEFRONTS|[^a-z]bank' labs/*/lab.c); do
    lab=$(basename "$(dirname "$lab")")
    if grep "^$lab/" "$work/merged.found" | grep -E ': shared [a-z]+: (merged|mixed|split):'; then
        echo "merged accesses: lab $lab asks about bank conflicts, but ptxas merged these accesses"
        status=1
    fi
done
echo "merged accesses: $(wc -l < "$work/merged.list") objects for sm_80 and sm_90," \
    "$(wc -l < "$work/merged.found") differences$([ $status = 0 ] && echo ", all known")"
exit $status
