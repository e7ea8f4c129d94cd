#!/bin/bash
# threads.sh - checks that results, report, table and trace have the same bytes on any number of threads.
#
#     tests/sim/time/threads.sh BUILD
#
# The kernels are in threads.cu. A trace is made without threads; so its report must equal that of a run with
# threads, too, if both play all blocks.
. "$(dirname "$0")/../prelude.sh"
begin threads "threads of modelled time" "${1:?the build folder}"
need_nvcc
unset SIM_REPORT SIM_QUIET SIM_SCHED SIM_DEVICE SIM_DEVICES SIM_CHECKS SIM_BUDGET SIM_TABLE SIM_TRACE
program=$work/threads
[ "$program" -nt "$here/time/threads.cu" ] ||
    "$nvcc" -O3 -lineinfo -cudart shared -std=c++17 -gencode 'arch=compute_80,code=[sm_80,compute_80]' \
        -o "$program" "$here/time/threads.cu" || exit 1

# run NAME SETTING...: NAME.out, NAME.err (with the table), NAME.json; status in NAME.out.
run()
{
    rm -f "$work/$1".*
    (cd "$work" && env SIM_CHECKS=none SIM_TIME=1 SIM_TABLE=1 SIM_REPORT="$1.json" LD_PRELOAD="$library" "${@:2}" \
        timeout 300 "$program" > "$1.out" 2> "$1.err"; echo "status $?" >> "$1.out")
}

# same NAME OTHER PART
same()
{
    if cmp -s "$work/$1.$3" "$work/$2.$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "threads: $1.$3 and $2.$3 differ"
        diff "$work/$1.$3" "$work/$2.$3" | head -4 | cut -c1-200
    fi
}

for device in teaching h200; do
    run "$device-1" SIM_DEVICE=$device SIM_THREADS=1
    if ! grep -q 'status 0' "$work/$device-1.out" || [ ! -s "$work/$device-1.json" ]; then
        echo "threads: the program fails: $(tail -2 "$work/$device-1.out")"
        exit 1
    fi
    for threads in 2 4; do
        run "$device-$threads" SIM_DEVICE=$device SIM_THREADS=$threads
        for part in out err json; do
            same "$device-1" "$device-$threads" $part
        done
    done
done
run traced SIM_TIME=all SIM_THREADS=1 SIM_TRACE=traced.trace
run traced-4 SIM_TIME=all SIM_THREADS=4 SIM_TRACE=traced-4.trace
run all-4 SIM_TIME=all SIM_THREADS=4
same traced traced-4 trace
same traced all-4 json
finish same different
