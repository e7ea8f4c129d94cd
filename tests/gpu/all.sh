#!/bin/bash
# all.sh BUILD OUT [JOB...] - runs all tests that need a GPU, on all GPUs of this machine, one job per GPU at a time.
#
# JOB: run only jobs whose names begin with it (all.sh BUILD OUT list shows the names). Each job runs in a copy of the
# workbook with its build folder, below $TMPDIR or /tmp, and uses one GPU. Its output is in OUT/JOB.txt, with figures
# and rows next to it. One line per job reports the result. Jobs that use all GPUs come last. Exit status 1: a job
# failed. To resume an interrupted run, name the remaining jobs.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=$(mkdir -p "${1:?the build folder}" && cd "$1" && pwd) || exit 3
out=$(mkdir -p "${2:?a folder for the results}" && cd "$2" && pwd) || exit 3
shift 2
parts=12

# Prints `NAME COMMAND` on each line; long jobs first.
jobs_of_one() {
    local lab pass k g
    for lab in transpose coalescing reduction; do echo "stability_$lab tests/gpu/stability.sh $lab 20"; done
    for g in 1 2 3 4; do echo "protocols_$g tests/gpu/protocols/protocols.sh 25 0"; done
    echo "validate make -s validate"
    for lab in 9 4 2 3 8 6 7 1 0; do
        echo "figures_$lab CHECK=all tests/gpu/figures.sh build $out/figures $lab"
    done
    for pass in 1 2 3; do for ((k = 0; k < parts; k++)); do echo "cheats${pass}_$k strangers cheats $k"; done; done
    for ((k = 0; k < parts; k++)); do echo "honest_$k strangers honest $k"; done
    echo "counters tests/sim/counters/collect.sh $out/counters.txt build"
}

# Lab 05 moves data through the host's memory, which other jobs would use at the same time.
jobs_of_all() {
    echo "figures_5 CHECK=all tests/gpu/figures.sh build $out/figures 5"
    echo "warm tests/gpu/warm.sh"
    echo "beside tests/gpu/beside.sh build"
    echo "class tests/gpu/many_gpus.sh build 6 64 $(seq -s, 0 $((gpus - 1)))"
}

wanted() { # PREFIX...: passes on the jobs that begin with one of these
    [ $# -gt 0 ] || { cat; return; }
    grep -E "^($(IFS='|'; echo "$*"))"
}

# strangers cheats|honest K: grades every $parts-th of those files, from the K-th on, with `warpbook check-cheats`
strangers() {
    local files=() file
    mapfile -t files < <(cd "$root" && find tests/cheats tests/honest -path "tests/$1/*" -name '*.cu' | sort |
        awk -v k="$2" -v parts=$parts 'NR % parts == k')
    rm -rf tests/cheats tests/honest
    mkdir -p tests/cheats tests/honest
    for file in "${files[@]}"; do cp "$root/$file" "$file"; done
    build/warpbook check-cheats
}

# job `NAME COMMAND`: runs in the copy for GPU number $GPU; without $GPU, in the copy for all GPUs
job() {
    local name=${1%% *} began=$SECONDS status=0
    cd "$copies/${GPU:-all}" || exit
    mkdir -p tmp "$out/rows/$name"
    [ -z "${GPU:-}" ] || export CUDA_VISIBLE_DEVICES=$GPU
    OUT=$out/rows/$name WARPBOOK_BUILD=$PWD/build TMPDIR=$PWD/tmp \
        timeout 1500 bash -c "${1#* }" > "$out/$name.txt" 2>&1 < /dev/null || status=$?
    rmdir "$out/rows/$name" 2> /dev/null
    echo "$name: status $status, $((SECONDS - began)) s${GPU:+, GPU $GPU}"
    return $((status != 0))
}

# Builds every kernel first, on all processors, so that no GPU waits for a compiler.
build_ahead() {
    local cc file
    cc=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1)
    {
        for file in solutions/*/*.cu solutions/*/*/*.cu; do echo "$(cut -d/ -f2 <<< "$file") $file"; done
        for file in tests/cheats/*.cu tests/cheats/*/*.cu tests/honest/*.cu; do echo "$(sed -n '2s|.*lab: *||p' "$file") $file"; done
    } | WARPBOOK_BUILD=$build xargs -P "$(nproc)" -L 1 bash -c \
        "\"$build/warpbook\" build \"\$1\" --cc $cc --submission \"\$2\" > /dev/null 2>&1 || true" -
}

gpus=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU')
if [ "${1:-}" = list ]; then
    { jobs_of_one; jobs_of_all; } | cut -d' ' -f1
    exit 0
fi
[ "$gpus" -gt 0 ] || { echo "all.sh: nvidia-smi shows no GPU"; exit 3; }
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,temperature.gpu --format=csv,noheader
root=$PWD copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
make -s B="$build" programs "$build"/{protocols_ours,protocols_foreign,libcudart-sim.so} || exit 3
build_ahead
for copy in $(seq 0 $((gpus - 1))) all; do
    mkdir "$copies/$copy"
    tar -c --exclude=./.git --exclude=./build . | tar -x -C "$copies/$copy"
    cp -a "$build" "$copies/$copy/build"
done
export root copies out parts
export -f job strangers
failed=0
jobs_of_one | wanted "$@" |
    xargs -r -d '\n' -n 1 -P "$gpus" --process-slot-var=GPU bash -c 'job "$1"' - || failed=1
while IFS= read -r line; do
    GPU='' job "$line" || failed=1
done < <(jobs_of_all | wanted "$@")
exit $failed
