#!/bin/bash
# bench.sh - compares the speed of the simulated GPU with its requirements.
#
#     tests/sim/bench/bench.sh BUILD      BUILD holds libcudart-sim.so; exit status 1: too slow
#
# Times are CPU times per launch, the median of several, with all counters and bounds checks. "all
# checks" adds races and uninitialised reads and may take four times as long; there the fastest runs
# are compared. "with time modelled": the blocks are also played on SMs. That is the second launch; later
# ones may repeat it, and are then not played. Memory is the peak of the
# process (VmHWM); the limit is twice what it allocates on host and device, plus 64 MiB. Start-up is
# the time of a process that launches one tiny kernel, minus the time of the same program without the
# simulator, which exits before its first call.
. "$(dirname "$0")/../prelude.sh"
begin bench "bench-sim" "${1:?the build folder}"
need_nvcc
missed=0
unset SIM_REPORT SIM_DEVICE SIM_SCHED SIM_BUDGET SIM_TABLE SIM_TIME
export SIM_QUIET=1 SIM_THREADS=1 LC_ALL=C

compile()
{
    local program
    for program in transpose sum sgemm startup; do
        [ "$work/$program" -nt "$here/bench/$program.cu" ] && [ "$work/$program" -nt "$here/bench/bench.h" ] ||
            "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 \
                -gencode 'arch=compute_80,code=[sm_80,compute_80]' \
                -o "$work/$program" "$here/bench/$program.cu" || exit 1
    done
}

# calculate EXPRESSION: evaluated by awk, with at most two decimals; 1 or 0 for comparisons.
calculate()
{
    awk "BEGIN { x = $1; printf((x >= 100 ? \"%.0f\" : x == int(x) ? \"%d\" : \"%.2f\"), x) }"
}

# row WHAT MEASURED most|least ASKED UNIT [REST]
row()
{
    local compare='<=' verdict=
    [ "$3" = most ] || compare='>='
    if [ "$(calculate "$2 $compare $4")" != 1 ]; then
        verdict='   MISSED'
        missed=1
    fi
    printf '%-36s %7s %-4s at %-5s %5s%s%s\n' "$1" "$(calculate "$2")" "$5" "$3" "$4" "$verdict" \
        "${6:+   $6}"
}

# measure CHECKS PROGRAM [ARGUMENT...]: sets ms (the median), least, second (of the second launch),
# millions (of warp instructions), allocated, peak.
measure()
{
    local report=$work/report.json line
    line=$(SIM_CHECKS=$1 SIM_REPORT=$report LD_PRELOAD=$library "$work/$2" "${@:3}")
    read -r _ ms least repetitions allocated peak second <<< "$line"
    if [ -z "${second:-}" ]; then
        echo "$2: $line"
        exit 1
    fi
    millions=$(awk -v repetitions="$repetitions" '/"record":"kernel"/ {
            match($0, /"warp_instructions":[0-9]+/)
            sum += substr($0, RSTART + 20, RLENGTH - 20)
        } END { print sum / repetitions / 1e6 }' "$report")
}

# kernel WHAT MOST_MS LEAST_MILLIONS_A_SECOND PROGRAM [ARGUMENT...]
kernel()
{
    measure none "${@:4}"
    local plain=$least rate
    rate=$(calculate "$millions / $ms * 1000")
    row "$1" "$ms" most "$2" ms "$(calculate "$millions") M warp instructions, $rate M a second"
    [ "$3" = 0 ] || row "    warp instructions a second" "$rate" least "$3" M
    row "    memory" "$(calculate "$peak / 1024")" most "$(calculate "int(2 * $allocated / 1024 + 64)")" \
        MiB "of them $(calculate "$allocated / 1024") allocated"
    measure races,uninitialised "${@:4}"
    row "    all checks" "$(calculate "$least / $plain")" most 4 fold "$ms ms"
    SIM_TIME=1 measure none "${@:4}"
    row "    with time modelled, a second" "$(calculate "$millions / $second * 1000")" least 15 M \
        "$second ms; median of all launches: $ms ms"
}

# process_ms COMMAND...: the median of 21.
process_ms()
{
    local begin i
    for i in $(seq 21); do
        begin=$EPOCHREALTIME
        "$@" > /dev/null
        calculate "($EPOCHREALTIME - $begin) * 1000"
        echo
    done | sort -n | sed -n 11p
}

start_up()
{
    local own with
    own=$(process_ms "$work/startup" no)
    with=$(process_ms env LD_PRELOAD="$library" "$work/startup")
    row "start-up" "$(calculate "$with - $own")" most 20 ms "the program alone: $own ms"
}

# foreign WHAT SIZE: the time under oclgrind, on one thread, next to our own time for the same work.
foreign()
{
    local line arguments=()
    line=$(taskset -c 0 oclgrind --num-threads 1 "$work/opencl" "$here/bench/opencl.cl" "$1" "$2" 2>&1)
    [ "$1" = transpose ] || arguments=("$2" 15)
    measure none "$1" "${arguments[@]}"
    printf '%-36s %7s ms   here: %s ms\n' "oclgrind: $1 of $2 x $2" "$(calculate "${line##* }")" "$ms"
}

for_scale()
{
    if ! command -v oclgrind > /dev/null; then
        echo "oclgrind: skipped, not installed (apt-get install oclgrind ocl-icd-opencl-dev)"
    elif ! cc -O2 -D_GNU_SOURCE -o "$work/opencl" "$here/bench/opencl.c" -lOpenCL -lm 2> /dev/null; then
        echo "oclgrind: skipped, OpenCL headers not found (apt-get install ocl-icd-opencl-dev)"
    else
        foreign transpose 512
        foreign sgemm 128
    fi
}

compile
kernel "transpose 512 x 512, padded" 10 0 transpose
kernel "sum of 2^20 floats, shuffles" 10 0 sum
kernel "SGEMM 512^3, registers" 250 30 sgemm 512 9
kernel "SGEMM 1024^3, registers" 2000 30 sgemm 1024 3
start_up
for_scale
exit $missed
