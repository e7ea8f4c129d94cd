#!/bin/bash
# see.sh BUILD - make see on real kernels: a page for the starter, the reference and two wrong kernels of each lab, each under 1 MB;
# findings show both lines; the reference appears only once the lab is passed. Where Chromium is installed, see.mjs opens pages.
# Needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build} failed=0
export WARPBOOK_BUILD=$build
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
    echo "FAILED: $*"
    failed=1
}

# see LAB FILE NAME: writes the page, and keeps it as $out/NAME.html.
see() {
    local printed
    printed=$("$build/warpbook" see "$1" --submission "$2" 2> "$out/said") || { fail "see $1 $2: status $?: $(cat "$out/said")"; return 1; }
    cp "$printed" "$out/$3.html" || { fail "see $1 $2: no page at '$printed'"; return 1; }
    [ "$(stat -c %s "$out/$3.html")" -lt 1000000 ] || fail "$2: the page has $(stat -c %s "$out/$3.html") bytes"
}

# has NAME TEXT, lacks NAME TEXT
has() { grep -qF -- "$2" "$out/$1.html" || fail "$1: '$2' is missing"; }
lacks() { ! grep -qF -- "$2" "$out/$1.html" || fail "$1: '$2' is there"; }

# A lab, and two of its wrong kernels with what the page must say.
wrongs='
00_first no_bounds_check shifted
01_coalescing window_overrun no_barrier
02_bank_conflicts no_barrier reads_past_end
03_divergence no_barrier no_bounds
04_ilp_tlp in_place tail_lost
05_streams no_wait one_buffer
06_transpose no_barrier overrun_one_row
07_reduction no_barrier tail_missing
08_tail_effect ticket_no_barrier row_remainder_lost
09_sgemm first_barrier_missing no_bounds
10_scan no_barrier quads_overrun
12_softmax one_barrier_missing padding_counts
'
while read -r lab first second; do
    [ -n "$lab" ] || continue
    reference=$(find "solutions/$lab" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
    see "$lab" "solutions/$lab/0_starter.cu" "${lab%%_*}-starter" && has "${lab%%_*}-starter" '"kernels":['
    see "$lab" "$reference" "${lab%%_*}-reference"
    for name in "$first" "$second"; do
        see "$lab" "solutions/$lab/wrong/$name.cu" "${lab%%_*}-$name"
    done
done <<< "$wrongs"

# Both accesses of a race, with their lines; an access out of bounds.
has 06-no_barrier '<h3>Race in transpose_kernel</h3>'
has 06-no_barrier '<th scope="row">earlier</th><td class="whole">('
has 06-no_barrier '<th scope="row">later</th><td class="whole">('
has 06-no_barrier '">line 23</a>: <code>tile[threadIdx.y + j][threadIdx.x] = in'
has 06-no_barrier '">line 30</a>: <code>out[col * rows + row] = tile'
has 06-overrun_one_row 'Out of bounds in transpose_kernel'
lacks 06-reference '<section id="findings">'

# Hostile source.
{
    cat solutions/06_transpose/0_starter.cu
    echo '// </script><script>alerted = 1</script><img src=x onerror="alerted = 1">'
} > "$out/hostile.cu"
see 6 "$out/hostile.cu" hostile && lacks hostile '<img' && lacks hostile '<script>alerted'

# The same page each time, except for the random number of its policy.
see 6 solutions/06_transpose/0_starter.cu again
for name in again 06-starter; do
    sed -E "s/nonce(-|=\")[0-9a-f]+/nonce/g" "$out/$name.html" > "$out/$name.plain"
done
cmp -s "$out/again.plain" "$out/06-starter.plain" || fail "another run gives another page"

# A tree with its own progress: the reference appears once the lab is passed.
mkdir "$out/tree" "$out/tree/.warpbook"
ln -s "$PWD"/{common,grader,labs,solutions,Makefile} "$out/tree"
built=$(cd "$build" && pwd)
for best in slow pass; do
    echo "lab:06_transpose verdict:$best best:$best ratio:0.5 hints:0 date:2026-01-01" > "$out/tree/.warpbook/progress"
    page=$(cd "$out/tree" && WARPBOOK_BUILD=$built "$built/warpbook" see 6 2> "$out/said") || fail "see in a tree: status $?"
    cp "$page" "$out/$best.html"
done
lacks slow 'The reference'
has pass '<h3>The reference</h3>'
has pass 'id="reference-'

# The rungs on the roofline once the lab is passed: modelled once, then kept; a kept point that says otherwise is believed.
rm -rf "$build/rungs"
echo "lab:01_coalescing verdict:pass best:pass ratio:1 hints:0 date:2026-01-01" > "$out/tree/.warpbook/progress"
for round in first second; do
    page=$(cd "$out/tree" && WARPBOOK_BUILD=$built "$built/warpbook" see 1 2> "$out/said") || fail "see 1 in a tree: status $?"
    cp "$page" "$out/rungs-$round.html"
    sed -i 's/intensity:[0-9.]*/intensity:0.123/' "$build"/rungs/01_coalescing-*
done
# On a busy machine a rung may take more than its second; the page then says so.
left_out() { grep -q 'Left out' "$out/$1.html"; }
left_out rungs-first || has rungs-first '1_feature_a_block: 0.0105 operations per byte'
left_out rungs-first || left_out rungs-second || has rungs-second '1_feature_a_block: 0.123 operations per byte'
rm -rf "$build/rungs"
lacks 01-reference '1_feature_a_block'

# Wrong usage, and a kernel that does not build.
"$build/warpbook" see unknown > /dev/null 2>&1 && fail "see of an unknown lab succeeds"
echo 'not C' > "$out/broken.cu"
"$build/warpbook" see 6 --submission "$out/broken.cu" > /dev/null 2>&1
[ $? = 1 ] || fail "a kernel that does not build: status is not 1"

if command -v node > /dev/null && [ -e slides/node_modules/axe-core ] && { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null; then
    node tests/learner/see.mjs "$out"/0?-starter.html "$out/06-no_barrier.html" "$out/06-overrun_one_row.html" "$out/hostile.html" "$out/pass.html" || failed=1
    browser=
else
    browser=", Chromium skipped (make setup-slides)"
fi
[ $failed = 0 ] && echo "see: passed$browser"
exit $failed
