#!/bin/bash
# limits.sh - checks that warpbook explain names the right limit for kernels whose limit is the lesson.
#
#     tests/sim/limits.sh BUILD [LAB/KERNEL]     BUILD holds warpbook and runner-sim; only that kernel
#
# Run it from the repository's root; it needs nvcc. A row has a kernel, the limit with the largest share
# (empty: any, for copies and kernels that take equally long), and texts that the sentence or other lines
# must contain. The limits are those that the lessons teach; the reason is in the kernel's head comment.
set -u
build=$(cd "${1:?the build folder}" && pwd)
only=${2:-}

[ -f tests/sim/limits.sh ] || { echo "limits.sh: run it from the repository's root"; exit 2; }
. grader/build/toolkit.sh
[ -n "$nvcc" ] || { echo "limits: skipped, nvcc not found"; exit 0; }
[ -x "$build/runner-sim" ] || { echo "limits: skipped, $build/runner-sim not found"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0
export WARPBOOK_BUILD=$build

# limited KERNEL LIMIT PATTERN...: each pattern must occur in the output, with line ends as blanks.
limited()
{
    local kernel=$1 limit=$2 lab=${1%%_*} pattern first bad=0
    [ -z "$only" ] || [ "$only" = "$kernel" ] || return
    shift 2
    count=$((count + 1))
    "$build/warpbook" explain "${lab#0}" --seed 1 --submission "solutions/$kernel.cu" > "$work/out" 2>&1 || {
        echo "limits: $kernel: warpbook explain failed"
        cat "$work/out"
        failed=1
        return
    }
    # The rows after the time are the limits, largest first.
    first=$(sed -n '/^share of that time that each limit takes/{n;s/^  \(.*[^ ]\)  *[0-9.]* %  *[0-9.]* %$/\1/p}' "$work/out")
    for pattern in "$@"; do
        tr '\n' ' ' < "$work/out" | tr -s ' ' | grep -qE -- "$pattern" && continue
        echo "limits: $kernel: does not say: $pattern"
        bad=1
    done
    [ -z "$limit" ] || [ "$first" = "$limit" ] || { echo "limits: $kernel: limited by $first, expected $limit"; bad=1; }
    grep -E '^.{81,}' "$work/out" && { echo "limits: $kernel: wider than 80 columns"; bad=1; }
    [ $bad = 0 ] && return
    failed=1
    cat "$work/out"
}

limited 01_coalescing/1_feature_a_block "DRAM" "[0-9.]+ times the sectors that" \
    "kernel.cu:[0-9]+, mostly DRAM .*loads: 32.0 sectors per request on average, 4.0 would hold"
limited 02_bank_conflicts/1_packed "shared memory" "bank conflicts cost 16.0 times the wavefronts"
limited 03_divergence/1_item_a_thread "issuing other than FP32" "Yours: .*on average only [0-9.]+ of 32 lanes are active"
# The reference waits for memory as well, for less of its time.
limited 04_ilp_tlp/1_one_at_a_time "latency" "(Yours|Both): .*mostly for global memory; [0-9]+ warps per SM do not hide this latency"
limited 05_streams/1_one_stream "transfers" "Yours: .*other work overlaps with only a part"
# Stages that are equally long: the limit is the one that takes slightly longer on this device.
limited 05_streams/4_eight_buffers "" "(Yours|Both): .*(the link is the limit|issuing instructions other than FP32)"
limited 06_transpose/4_tile "shared memory" "kernel.cu:[0-9]+, mostly shared memory out.col . rows . row. = tile" \
    "shared memory 32.0 wavefronts per request, 1.0 without bank conflicts"
# Memory is always busy while index arithmetic runs. Their shares of the time are nearly equal: DRAM 37 % and issue
# 41 % on the Teaching GPU, 42 % and 41 % on sim:h200. So only the sentence is checked, not the order.
limited 06_transpose/5_padded "" "(Yours|Both): the device's memory is busy (9[0-9]|100) %"
limited 08_tail_effect/1_row_a_block "tail: SMs without blocks" "Yours: SMs have no block"
limited 09_sgemm/9_three_pairs "FP32 arithmetic" "(Yours|Both): .*compute-bound"

[ $count -gt 0 ] || { echo "limits: no row for $only in this script"; exit 2; }
[ $failed = 0 ] && echo "limits: $count kernels, each with the limit that its lesson names"
exit $failed
