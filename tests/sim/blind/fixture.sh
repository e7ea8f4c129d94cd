#!/bin/bash
# fixture.sh - makes the fixtures of the blind set from what on_gpu.sh has collected in OUT/raw.
#
#     tests/sim/blind/fixture.sh OUT
#
# It writes OUT/sealed.txt and, if open launches were measured too (on_gpu.sh --all), OUT/open.txt. It prints how many
# launches are in each and which lack a time or counters, but no measured value. Exit status 1: some do.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?the folder that on_gpu.sh wrote}
raw=$out/raw
columns=$(cat "$raw/columns")
export LC_ALL=C

times()
{
    cat "$raw"/*.times | sed -n 's/^launch \([^ ]*\) [^ ]* [^ ]* \([0-9.]* [0-9.]*\)$/time \1 \2/p'
}

# A family whose rows cannot be read leaves a message and no rows.
counts()
{
    local csv family
    for csv in "$raw"/*.csv; do
        [ -e "$csv" ] || continue
        family=$(basename "$csv" .csv)
        awk -v columns="$columns" -f "$here/../counters/rows.awk" "$raw/$family.out" "$csv" > "$raw/rows" ||
            echo "blind: counters of $family are not complete" >&2
        sed -n 's/^\([^#]\)/count \1/p' "$raw/rows"
    done
}

of_state() # STATE
{
    echo "# The $1 launches of the blind set (cases.def) on a GPU. time: in us by events, the median of 15 launches after a"
    echo "# warm-up, and the distance of their quartiles. count: one launch after a warm-up, a line per kernel."
    cat "$raw/head"
    echo "# command: tests/sim/blind/on_gpu.sh BUILD OUT"
    echo "# columns: label kernel grid block output $(echo "$columns" | tr ' ' '\n' | awk 'NR % 2' | paste -sd' ' | sed 's/ *$//')"
    awk -v state="$1" 'NR == FNR { if ($3 == state) wanted[$1] = 1; next } $2 in wanted' "$raw/list" "$raw/rows.all"
}

{ times; counts; } > "$raw/rows.all"
written=
for state in open sealed; do
    grep -q " $state\$" "$raw/list" || continue
    [ "$state" = open ] && file=open.txt || file=sealed.txt
    of_state "$state" > "$out/$file"
    written="$written, $(grep -c '^time' "$out/$file") $state in $out/$file"
done
missing=$(awk 'NR == FNR { seen[$1 " " $2] = 1; next }
    !(("time " $1) in seen) { print $1 " (time)" } !(("count " $1) in seen) { print $1 " (counters)" }' \
    "$raw/rows.all" "$raw/list" | paste -sd' ')
echo "blind: launches: ${written#, }"
[ -z "$missing" ] || { echo "blind: missing: $missing"; exit 1; }
