#!/bin/bash
# figures.sh BUILD FOLDER [LAB...] - measures the figures of lessons on this machine's first GPU: every timed kernel of
# a lab (warpbook check), then tests/bench. Writes FOLDER/LAB.check.txt and LAB.bench.txt, each once it is complete; if
# FOLDER is docs/measured, fills in the lessons. CHECK=all also checks wrong kernels that are never timed. With several
# GPUs, start one figures.sh for each, with its own CUDA_VISIBLE_DEVICES and labs.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
unset MAKEFLAGS MFLAGS MAKELEVEL # set by a make that calls this script
build=$1 into=$2 bad=0
shift 2
mkdir -p "$into" || exit 3
labs=$("$build/warpbook" labs "$@" | awk '{ print $1 }')
[ -n "$labs" ] || exit 2
timed_only=--timed-only
[ "${CHECK:-}" != all ] || timed_only=

benches=
for lab in $labs; do
    [ ! -e "tests/bench/$lab.cu" ] || benches="$benches $build/bench_$lab"
done
# shellcheck disable=SC2086
[ -z "$benches" ] || make -s -j"$(nproc)" B="$build" $benches || exit 3

for lab in $labs; do
    echo
    echo "== $lab ($SECONDS s)"
    check=$into/$lab.check bench=$into/$lab.bench
    "$build/warpbook" check "$lab" --figures "$check.new" $timed_only
    status=$?
    [ $status -le 1 ] || exit $status
    [ $status = 0 ] || bad=1
    mv "$check.new" "$check.txt"
    [ -e "tests/bench/$lab.cu" ] || continue
    sed "s|^command: .*|command: bench_$lab, by make figures|; /^\$/q" "$check.txt" > "$bench.new"
    if WARPBOOK_FIGURES=$bench.new "$build/bench_$lab"; then
        mv "$bench.new" "$bench.txt"
    else
        echo "figures: bench_$lab failed; what it measured so far is in $bench.new"
        bad=1
    fi
done
echo
if [ "$into" -ef docs/measured ]; then
    tests/figures.sh write || bad=1
    echo "not measured yet:"
    tests/figures.sh missing
else
    echo "Next: copy $into/*.txt to docs/measured/, then tests/figures.sh write."
fi
echo "$SECONDS s"
exit $bad
