#!/bin/bash
# collect.sh - measures the hardware counters that compare.sh uses, on a machine with a GPU and its
# profiler (ncu).
#
#     tests/sim/counters/collect.sh FIXTURE [BUILD [LABELS...]]
#
# Run it from the repository's root. It takes some minutes. It also keeps the profiler's output in
# FIXTURE.raw. The last line is a summary.
# LABELS selects kernels: for example '02_*/[0-9]*', patterns (all of patterns.cu) or 'uniform_*' (some of
# them). The rows must then be copied into the complete fixture.
set -u
fixture=$1
build=${2:-build}
shift $(($# < 2 ? $# : 2))
only=("$@")
raw=$fixture.raw
work=$build/counters-gpu
here=tests/sim/counters
jobs=$(nproc)
export LC_ALL=C
. grader/build/toolkit.sh
mkdir -p "$raw" "$work/cases"
begin=$(date +%s)

fail()
{
    echo "counters: FAILED: $*"
    exit 1
}

say()
{
    echo "counters: $(($(date +%s) - begin)) s: $*"
}

[ -f $here/collect.sh ] || fail "run it from the repository's root"
ncu=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null |
    tail -1)
[ -x "$ncu" ] || fail "ncu not found"
device=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -1)
sm=${device##*, }

wanted() # LABEL
{
    local pattern
    [ ${#only[@]} -gt 0 ] || return 0
    for pattern in "${only[@]}"; do
        # shellcheck disable=SC2053
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}

# ---- Build, and find the kernels that run ----

$here/build.sh "$build" "$work" "$jobs" "$sm" || fail "build"
[ ! -e "$work/not_built" ] || cat "$work/not_built"
say "built $(wc -l < "$work/objects") kernels of labs"

# cases LAB: prints "ragged 300 517" ... Each lab must have a line; `-` means that it has no cases.
cases()
{
    sed -n "s/^$1  *//p" $here/cases.txt
}

# Each case has its own object, so that no state remains from the previous case.
for lab in $(awk '{ print $2 }' "$work/objects" | sort -u); do
    [ -n "$(cases "$lab")" ] || fail "cases.txt has no line for $lab"
done
while read -r label lab object; do
    wanted "$label" || continue
    while read -r name dims; do
        [ "$name" != - ] || continue
        copy=$work/cases/$(tr / . <<< "$label").$name.so
        cp "$object" "$copy"
        echo "$label/$name $lab $copy $dims"
    done < <(cases "$lab")
done < "$work/objects" > "$work/wanted"

# Only kernels that succeed without the profiler are counted; the others crash, as expected.
try()
{
    local said
    said=$(timeout 20 "$work/lab_driver" "$@" 2>&1 | head -c 2000)
    if [[ $said == *$'\ndone 1' ]]; then
        echo "ok $*"
    else
        echo "# not run: $1: $(echo "$said" | tail -1)"
    fi
}
export -f try
export work
xargs -P "$jobs" -L 1 bash -c 'try "$@"' - < "$work/wanted" | sort > "$work/tried"
sed -n 's/^ok //p' "$work/tried" > "$work/list"
say "$(wc -l < "$work/list") of $(wc -l < "$work/wanted") cases of labs run"

# ---- Profile ----

"$ncu" --query-metrics > "$raw/metrics.txt" 2>&1
grep -oE '^[a-z][a-z0-9_]+__[a-z0-9_]+' "$raw/metrics.txt" | sort -u > "$work/known"
columns=$(while read -r column metric maybe; do
    [[ -n $column && $column != \#* ]] || continue
    if [ "$metric" = "?" ]; then
        metric=$maybe
        grep -qx "${metric%.sum}" "$work/known" || metric=-
    fi
    echo -n "$column $metric "
done < $here/metrics.txt)
metrics=$(echo "$columns" | tr ' ' '\n' | grep __ | paste -sd,)

# profile NAME LIMIT_S PROGRAM...: prints its rows, or as many as there are if it fails.
profile()
{
    local name=$1 limit_s=$2
    shift 2
    timeout -k 5 "$limit_s" "$ncu" --clock-control none --cache-control none --csv --page raw \
        --print-units base --print-kernel-base function --log-file "$raw/$name.csv" \
        --metrics "$metrics" "$@" > "$raw/$name.out" 2> "$raw/$name.err"
    local status=$?
    if [ $status != 0 ] || ! grep -q '^done' "$raw/$name.out"; then
        echo "counters: $name: ncu ended with $status" >&2
        tail -3 "$raw/$name.err" >&2
        grep -v '^"' "$raw/$name.csv" | tail -5 >&2
        status=1
    fi
    awk -v columns="$columns" -f $here/rows.awk "$raw/$name.out" "$raw/$name.csv" || status=1
    return $status
}

# profile_lab LAB: profiles all its cases in one run of at most $BATCH_S seconds and prints the rows. A kernel
# with several streams can hang under the profiler, which then reports none of the cases. In that case each
# kernel is profiled separately, and the ones that hang are reported. BATCH_S=1: always profile separately.
profile_lab()
{
    local lab=$1 line label
    profile "$lab" "${BATCH_S:-300}" "$work/lab_driver" --batch "$work/batch.$lab" > "$work/rows.$lab" && {
        cat "$work/rows.$lab"
        return
    }
    while IFS= read -r line; do
        label=${line%% *}
        echo "$line" > "$work/one"
        if profile "$(tr / . <<< "$label")" 20 "$work/lab_driver" --batch "$work/one" < /dev/null > "$work/rows.$lab"; then
            cat "$work/rows.$lab"
        else
            echo "# not profiled: $label"
        fi
    done < "$work/batch.$lab"
}

wrong=0
: > "$work/rows"
for lab in $(awk '{ print $2 }' "$work/list" | sort -u); do
    awk -v lab="$lab" '$2 == lab' "$work/list" > "$work/batch.$lab"
    profile_lab "$lab" >> "$work/rows"
    say "profiled $lab"
done
some=() # the selected patterns, if not all
wanted patterns || while read -r label; do
    ! wanted "$label" || some+=("$label")
done < <("$work/patterns" --list)
if wanted patterns || [ ${#some[@]} -gt 0 ]; then
    profile patterns 400 "$work/patterns" "${some[@]}" >> "$work/rows" || wrong=1
    say "profiled patterns"
fi

# ---- The fixture ----

{
    echo "# Counters of a GPU for the kernels of the labs and of patterns.cu."
    echo "# device: $device (name, driver, compute capability)"
    echo "# date: $(date -u +%F); $("$nvcc" --version | tail -1); ncu $("$ncu" --version | tail -1)"
    echo "# command: tests/sim/counters/collect.sh"
    echo "# columns: label kernel grid block output $(echo "$columns" |
        tr ' ' '\n' | awk 'NR % 2' | paste -sd' ' | sed 's/ $//')"
    grep '^#' "$work/tried"
    cat "$work/rows"
} > "$fixture"
# The accesses in machine code, for the table of merged accesses; not part of the fixture.
if [ ${#only[@]} = 0 ] && command -v cuobjdump > /dev/null; then
    {
        echo "patterns - $work/patterns"
        cat "$work/objects"
    } | while read -r label lab object; do
        echo "object $label"
        cuobjdump -sass "$object" | grep -E 'Function|LD|ST|ATOM|RED|FFMA'
    done | gzip > "$raw/sass.gz"
fi
gzip -f "$raw"/*.csv "$raw"/*.out "$raw"/metrics.txt
rows=$(grep -vc '^#' "$fixture")
labels=$(grep -v '^#' "$fixture" | awk '{ print $1 }' | sort -u | wc -l)
[ $wrong = 0 ] || fail "some kernels could not be profiled; $rows rows of $labels labels are in $fixture"
[ "$rows" -gt 0 ] || fail "no rows"
say "ok: $rows launches of $labels labels, $device, in $fixture; not profiled: $(grep -c '^# not profiled' "$work/rows")"
