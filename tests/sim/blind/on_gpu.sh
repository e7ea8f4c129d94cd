#!/bin/bash
# on_gpu.sh - measures launches of the blind set on this machine's GPU: times by events, then counters by the profiler (ncu).
#
#     tests/sim/blind/on_gpu.sh [--all] BUILD OUT [LIMIT_S]
#
# Run it from the repository's root, alone on the GPU. It uses BUILD/blind/blind-gpu if build.sh made it from the same
# sources. It measures the sealed launches and writes OUT/sealed.txt; with --all, also the open ones and OUT/open.txt.
# From OUT/raw fixture.sh can make these files again. After LIMIT_S seconds (default 150) it stops with what it has. It
# prints no measured values, so that the sealed ones remain unseen.
set -u
wanted=sealed
[ "${1:-}" != --all ] || { wanted=all; shift; }
build=${1:?the build folder}
out=${2:?the output folder}
limit_s=${3:-150}
here=tests/sim/blind
raw=$out/raw
repeats=15
begin=$(date +%s)
status=0
export LC_ALL=C
. grader/build/toolkit.sh
mkdir -p "$raw"

say()
{
    echo "blind: $(($(date +%s) - begin)) s: $*"
}

fail()
{
    say "FAILED: $*"
    exit 1
}

left_s()
{
    echo $((limit_s - 8 - ($(date +%s) - begin)))
}

[ -f $here/on_gpu.sh ] || fail "run it from the repository's root"
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -1)}
$here/build.sh "$build" gpu || fail "build"
program=$build/blind/blind-gpu
"$program" --list > "$raw/list.all" || fail "$program does not run"
awk -v wanted=$wanted 'wanted == "all" || $3 == wanted' "$raw/list.all" > "$raw/list"
[ -s "$raw/list" ] || fail "no launch is sealed (see --all)"
families=$(awk '!seen[$2]++ { print $2 }' "$raw/list")
{
    echo "# device: $(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -1) (name, driver, compute capability)"
    echo "# date: $(date -u +%F); ${nvcc:+$("$nvcc" --version | tail -1); }ncu $([ ! -x "$ncu" ] || "$ncu" --version | tail -1)"
} > "$raw/head"
: > "$raw/columns"

# of_family FAMILY: the names of its launches
of_family()
{
    awk -v family="$1" '$2 == family { print $1 }' "$raw/list"
}

# ---- Times: a process per family, so that an error that ends one leaves the others ----

for family in $families; do
    # shellcheck disable=SC2046 # names are words
    timeout -k 2 40 "$program" --times $repeats $(of_family "$family") > "$raw/$family.times" 2> "$raw/$family.times.err" ||
        { say "times of $family: status $?: $(tail -1 "$raw/$family.times.err")"; status=1; }
done
say "timed $(cat "$raw"/*.times | grep -c '^launch') of $(wc -l < "$raw/list") launches"

# ---- Counters ----

if [ -x "$ncu" ]; then
    "$ncu" --query-metrics > "$raw/metrics" 2>&1
    grep -oE '^[a-z][a-z0-9_]+__[a-z0-9_]+' "$raw/metrics" | sort -u > "$raw/known"
    cat tests/sim/counters/metrics.txt $here/metrics.txt | while read -r column metric maybe; do
        [[ -n $column && $column != \#* ]] || continue
        if [ "$metric" = "?" ]; then
            metric=$maybe
            grep -qx "${metric%.*}" "$raw/known" || metric=-
        fi
        echo -n "$column $metric "
    done > "$raw/columns"
    say "$(wc -w < "$raw/known") metrics"
else
    say "ncu not found: no counters"
fi
metrics=$(tr ' ' '\n' < "$raw/columns" | grep __ | paste -sd,)

# profile FAMILY LIMIT_S
profile()
{
    local family=$1
    # shellcheck disable=SC2046 # names are words
    timeout -k 5 "$2" "$ncu" --clock-control none --cache-control none --csv --page raw --print-units base \
        --print-kernel-base function --profile-from-start off --log-file "$raw/$family.csv" --metrics "$metrics" \
        "$program" --profile $(of_family "$family") > "$raw/$family.out" 2> "$raw/$family.err" ||
        { say "ncu of $family: status $?: $(tail -1 "$raw/$family.err")"; status=1; }
}

for family in $families; do
    if [ -z "$metrics" ] || [ "$(left_s)" -lt 5 ]; then
        say "no time left for the counters of $family"
        status=1
        continue
    fi
    profile "$family" "$(left_s)"
    say "profiled $family"
done
rm -f "$raw/metrics"
$here/fixture.sh "$out" || status=1
exit $status
