#!/bin/bash
# compare.sh - compares the simulated GPU's counters with those of real hardware.
#
#     tests/sim/counters/compare.sh BUILD [--sample | LABEL...]
#
# Run it from the repository's root. It runs every launch of the fixture h200.txt (or only the given labels; with
# --sample, those of the patterns and of every fourth kernel of the labs) on the simulated H200. Differences must be listed in deviations.txt, with their cause. BUILD holds
# libcudart-sim.so. The last line is a summary; all rows are in BUILD/counters/compared.
set -u
build=$(cd "${1:?the build folder}" && pwd)
shift
here=tests/sim/counters
work=$build/counters
fixture=${FIXTURE:-$here/h200.txt}
export LC_ALL=C

skip()
{
    echo "counters: skipped, $*"
    exit 0
}

[ -f $here/compare.sh ] || { echo "compare.sh: run it from the repository's root"; exit 2; }
[ -e $fixture ] || skip "$fixture not found"
command -v jq > /dev/null || skip "jq not found (make setup)"
. grader/build/toolkit.sh
[ -n "$nvcc" ] || skip "nvcc not found"

# sample: the patterns, and every fourth kernel of the labs with all its cases.
sample()
{
    awk '{ kernel = $1; sub(/\/[^\/]*$/, "", kernel) }
        !/\// { print; next }
        kernel != last { last = kernel; kernels++ }
        kernels % 4 == 1'
}

mkdir -p "$work"
if [ $# -gt 0 ] && [ "$1" != --sample ]; then
    printf '%s\n' "$@" | sort -u
else
    sed '/^#/d; s/ .*//' $fixture | sort -u | if [ $# -gt 0 ]; then sample; else cat; fi
fi > "$work/labels"
nice $here/build.sh "$build" "$work" "$(nproc)" 9.0 "$work/labels" || exit 1

# ---- Run: each launch in its own process, and thus with its own report ----

rm -rf "$work/run"
mkdir -p "$work/run"

# command LABEL: prints the program and its arguments.
awk -v work="$work" '
    FILENAME ~ /cases.txt$/ { if (!/^#/ && NF) { key = $1 "/" $2; sub(/^[^ ]+ +[^ ]+ +/, ""); dims[key] = $0 } next }
    FILENAME ~ /objects$/ { lab[$1] = $2; object[$1] = $3; next }
    !/\// { print $1, "patterns", $1; next }
    {
        name = $1
        sub(/\/[^\/]*$/, "", name)
        kind = substr($1, length(name) + 2)
        if (name in object && (lab[name] "/" kind) in dims)
            print $1, "lab_driver", $1, lab[name], object[name], dims[lab[name] "/" kind]
        else
            print "compare.sh: the fixture has " $1 ", but there is no such kernel or case" > "/dev/stderr"
    }' $here/cases.txt "$work/objects" "$work/labels" > "$work/commands"

run()
{
    local label=$1 program=$2 name
    shift 2
    name=$(echo "$label" | tr / ,)
    LD_PRELOAD=$build/libcudart-sim.so SIM_DEVICE=h200 SIM_WHOLE=1 SIM_CHECKS=none SIM_QUIET=1 \
        SIM_REPORT=$work/run/$name.json timeout 60 "$work/$program" "$@" > "$work/run/$name.out" \
        2> "$work/run/$name.err" || echo "counters: $label: $(head -2 "$work/run/$name.err")"
}
export -f run
export build work
xargs -P "$(nproc)" -L 1 bash -c 'run "$@"' - < "$work/commands"

# ---- The counts of lines and of arrays add up to those of kernels ----

# A request to two arrays counts for each, so only sectors and bytes must add up. Copies read arrays, as
# loads do.
cat > "$work/sums.jq" <<'JQ'
def traffic(of): [(of.global, of.shared) as $g | ($g // {} | to_entries[] | .key as $k |
    .value | to_entries[] | [$k, .key, .value])] | sort;
def plain: [.warp_instructions, .thread_instructions, .machine_instructions, .machine_threads, .ffma_threads, .divergent_branches, .cost,
    .shared_loop_wavefronts, .shared_loop_ideal];
def sum_by_key: group_by(.[0:2]) | map([.[0][0], .[0][1], (map(.[2]) | add)]);
def of_arrays($kinds; $key): [.arrays[] | .[$kinds][$key] // 0] | add // 0;
def of_global($kinds; $key): [.global[$kinds[]][$key] // 0] | add // 0;
select(.record == "kernel") |
. as $k |
[   (if ([.lines[] | plain] | transpose | map(add)) == plain then empty else "lines" end),
    (if ([.lines[] | traffic(.)[]] | sum_by_key) == (traffic($k) | sum_by_key) then empty
     else "accesses of lines" end),
    (("sectors", "bytes") as $key |
     if of_arrays("load"; $key) == of_global(["load", "copy"]; $key) and
        of_arrays("store"; $key) == of_global(["store"]; $key) and
        of_arrays("atomic"; $key) == of_global(["atomic"]; $key) then empty
     else "\($key) of arrays" end) ] |
select(length > 0) | "\(input_filename): \($k.name): \(join(", ")) do not add up"
JQ
find "$work/run" -name '*.json' -print0 | sort -z | xargs -0 jq -r -f "$work/sums.jq" > "$work/sums"
sums=0
[ ! -s "$work/sums" ] || { head -5 "$work/sums"; sums=1; }

# ---- Compare ----

# One line per kernel and launch shape: label, kernel, grid, block, and its counts.
find "$work/run" -name '*.json' -print0 | sort -z | xargs -0 jq -r '
    def kind(of): (of // {}) | [.requests // 0, .sectors // 0];
    def shared(of): (of // {}) | [.wavefronts // 0, (.wavefronts // 0) - (.ideal // 0)];
    select(.record == "kernel" and .name != "marker") |
    [(input_filename | sub(".*/"; "") | sub(".json$"; "") | gsub(","; "/")),
     .name, (.grid | join("x")), (.block | join("x"))] +
    kind(.global.load) + kind(.global.store) + kind(.global.atomic) + kind(.global.copy) +
    shared(.shared.load) + shared(.shared.store) + shared(.shared.atomic) + shared(.shared.copy) +
    [.shared_loop_wavefronts, .shared_loop_ideal, .ffma_threads, .machine_threads, .machine_instructions] |
    join(" ")' > "$work/simulated"
grep -h '^launch' "$work"/run/*.out > "$work/outputs"
awk -f $here/compare.awk $here/deviations.txt "$work/labels" "$work/outputs" "$work/simulated" \
    $fixture > "$work/compared"
status=$?
grep -v '^same' "$work/compared" | grep -v '^known'

# ---- Known deviations are documented ----

told=0
while read -r label counter range cause; do
    row="| \`$label\` | \`$counter\` | $range | $cause |"
    grep -qF -- "$row" docs/simulator-counters.md || {
        echo "counters: docs/simulator-counters.md lacks this row: $row"
        told=1
    }
done < <(grep -v '^#' $here/deviations.txt | grep .)
exit $((status || sums || told))
