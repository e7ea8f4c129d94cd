#!/bin/bash
# same_report.sh - checks that the same program on the same described device gives byte-identical results,
# report and findings, in a second run and without AVX2. The system chooses the addresses of the program's
# own memory, so setarch -R fixes them.
#
#     tests/sim/same_report.sh BUILD      after run_programs.sh, whose programs it runs
set -u
build=$(cd "${1:?the build folder}" && pwd)
work=$build/sim/same
different=0
count=0

if ! setarch -R true 2> /dev/null; then
    echo "same reports: skipped, address randomisation cannot be switched off on this system"
    exit 0
fi
mkdir -p "$work"
unset SIM_REPORT SIM_QUIET SIM_SCHED SIM_DEVICE
export SIM_TIME=1 # modelled times must also be the same

# run NAME PROGRAM [SETTING=VALUE...]
run()
{
    (cd "$work" && rm -f report.json &&
        env LD_PRELOAD="$build/libcudart-sim.so" SIM_REPORT=report.json SIM_TABLE=1 "${@:3}" \
            timeout 60 setarch -R "$2" > "$1.out" 2> "$1.err"; echo "status $?" >> "$1.out"
        touch report.json; mv report.json "$1.json")
}

for program in "$build"/sim/programs/* "$build"/sim/bench/{transpose,sum}; do
    name=$(basename "$program")
    [[ -x $program && $name != *.* ]] || continue
    run first "$program" SIM_AVX2=1
    run second "$program" SIM_AVX2=1
    run plain "$program" SIM_AVX2=0
    count=$((count + 1))
    for part in out err json; do
        # The benchmarks print their own times.
        [[ $part = out && $program = */bench/* ]] && continue
        for other in second plain; do
            cmp -s "$work/first.$part" "$work/$other.$part" && continue
            echo "$name: $other.$part differs"
            diff "$work/first.$part" "$work/$other.$part" | head -4 | cut -c1-200
            different=$((different + 1))
        done
    done
done
echo "same reports: $count programs, $different differences"
[ "$count" -gt 0 ] && [ "$different" = 0 ]
