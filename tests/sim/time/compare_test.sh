#!/bin/bash
# compare_test.sh - tests the analysis of `make validate` (compare.awk, verdicts.awk) on small tables with
# results computed by hand, and on the figures of h200.txt.
set -u
cd "$(dirname "$0")/../../.." || exit
here=tests/sim/time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# holds WHAT TEXT: the last output must contain the line.
holds()
{
    grep -qxF -- "$2" "$work/out" && return
    echo "compare_test: $1: the output lacks the line \"$2\":"
    sed 's/^/    /' "$work/out"
    failed=1
}

# ends WHAT STATUS
ends()
{
    [ "$status" = "$2" ] || { echo "compare_test: $1: ended with $status, not $2"; failed=1; }
}

compare()
{
    LC_ALL=C awk "$@" -f $here/compare.awk "$work/modelled" "$work/references" "$work/measured" > "$work/out" 2>&1
    status=$?
}

verdicts()
{
    printf '%s\n' "$@" > "$work/verdicts"
    awk -f $here/verdicts.awk "$work/verdicts" > "$work/out"
    status=$?
}

printf '%s\n' '06_t 4_d' > "$work/references"
printf '%s\n' '# a comment' '06_t.1_a.x 100 fitted' '06_t.2_b.x 200 judged' '06_t.3_c.x 400 judged' \
    '06_t.4_d.x 800 judged' 'chain.32.1 10 judged' 'copy.stride.2 50 judged' > "$work/measured"

# On a slice of 2, half of each measured rate is exact; only the two other rates are off.
printf '%s\n' '06_t.1_a.x 50' '06_t.2_b.x 100' '06_t.3_c.x 220' '06_t.4_d.x 400' 'chain.32.1 5.4' \
    'copy.stride.2 30' > "$work/modelled"
compare -v slices=2
holds equal '| `06_t.3_c.x` | 400 | 440 | 1.100 | judged |'
holds equal 'fitted: 1 rows, error 0 % in the median, 0 % at the 90th percentile, 0 % at worst'
holds equal 'judged: 5 rows, error 8 % in the median, 20 % at the 90th percentile, 20 % at worst'
holds equal 'ratios to the reference, judged: 2 rows, error 0 % in the median, 10 % at the 90th percentile, 10 % at worst; asked 20 and 50 %'
holds equal 'order of 4 rungs, 06_t.x: Spearman 1.00, asked 0.90'
holds equal 'FMA chains: 1 of 1 within 10 %, 8 % at worst'
holds equal 'copies with strides: 1 of 1 within 25 %, 20 % at worst'
ends equal 0

# Two neighbours are swapped: 1 - 6 * 2 / (4 * 15) = 0.8; and a chain is half as fast.
printf '%s\n' '06_t.1_a.x 100' '06_t.2_b.x 400' '06_t.3_c.x 200' '06_t.4_d.x 800' 'chain.32.1 5' \
    'copy.stride.2 50' > "$work/modelled"
compare
holds swapped 'order of 4 rungs, 06_t.x: Spearman 0.80, asked 0.90   MISSED'
holds swapped 'FMA chains: 0 of 1 within 10 %, 100 % at worst   MISSED'
ends swapped 1

# A control case is shown, but is in no half and no order.
printf '%s\n' '06_t.1_a.x 100 fitted' '06_t.2_b.x 200 judged' '06_t.4_d.x 800 judged' '06_t.1_a.y 5 control' \
    '06_t.2_b.y 7 control' '06_t.3_c.y 9 control' '06_t.4_d.y 11 control' > "$work/measured"
printf '%s\n' '06_t.1_a.x 100' '06_t.2_b.x 200' '06_t.4_d.x 800' '06_t.1_a.y 40' '06_t.2_b.y 30' '06_t.3_c.y 20' \
    '06_t.4_d.y 10' > "$work/modelled"
compare
holds control '| `06_t.1_a.y` | 5 | 40 | 8.000 | control |'
holds control 'judged: 2 rows, error 0 % in the median, 0 % at the 90th percentile, 0 % at worst'
! grep -q 'order of' "$work/out" || { echo "compare_test: a control case has an order"; failed=1; }
ends control 0

# Rungs whose measured rates are within 3 % count as equal if their modelled rates are, too.
printf '%s\n' '06_t.1_a.x 100 judged' '06_t.2_b.x 102 judged' '06_t.3_c.x 400 judged' '06_t.4_d.x 800 judged' > "$work/measured"
printf '%s\n' '06_t.1_a.x 101' '06_t.2_b.x 100' '06_t.3_c.x 400' '06_t.4_d.x 800' > "$work/modelled"
compare
holds ties 'order of 4 rungs, 06_t.x: Spearman 1.00, asked 0.90'
ends ties 0

# A case that was not modelled is reported as missing, unless only a part was requested.
printf '%s\n' '06_t.1_a.x 101' > "$work/modelled"
compare
holds lacking '3 measured and not modelled: 06_t.2_b.x 06_t.3_c.x 06_t.4_d.x'
ends lacking 1
compare -v partly=06_t.1
ends partly 0

# Verdicts: a race is unsafe in the simulator and can have any verdict on a GPU.
verdicts 'a/1.cu slow slow' 'a/2.cu pass pass' 'a/wrong/r.cu pass unsafe'
holds verdicts 'verdicts: 3 of 3 agree, asked all'
ends verdicts 0
verdicts 'a/1.cu slow pass' 'a/2.cu pass' 'a/2.cu pass pass'
holds verdicts 'a/1.cu: slow on the GPU, pass simulated'
holds verdicts 'a/2.cu: pass on the GPU, none simulated'
holds verdicts 'verdicts: 1 of 3 agree, asked all'
ends verdicts 1

# A deviation announced in a first line counts neither as an error nor as an agreement, but only if it is exactly
# as announced and there is a verdict of a GPU.
verdicts 'a/1.cu slow slow -' 'a/wrong/o.cu stray crash crash' 'a/wrong/t.cu crash stray wrong_or_stray'
holds told 'a/wrong/o.cu: stray on the GPU, crash simulated, as its first line says'
holds told 'verdicts: 1 of 1 agree, asked all; 2 more race or misuse memory and end as told'
ends told 0
verdicts 'a/1.cu slow slow -' 'a/wrong/o.cu stray pass crash' 'a/wrong/t.cu - crash crash'
holds not_told 'a/wrong/o.cu: stray on the GPU, pass simulated'
holds not_told 'a/wrong/t.cu: none on the GPU, crash simulated'
holds not_told 'verdicts: 1 of 3 agree, asked all'
ends not_told 1

# The H200 compared with itself has no errors, and each line of its tables is read.
(cd solutions && for lab in *; do echo "$lab $(basename "$(find "$lab" -maxdepth 1 -name '[1-9]*.cu' | sort | tail -1)" .cu)"; done) > "$work/references"
for file in h200.txt h200-all.txt; do
    grep -v '^#' "$here/$file" > "$work/measured"
    awk '{ print $1, $2 }' "$work/measured" > "$work/modelled"
    compare
    ends "itself: $file" 0
    [ "$(grep -c '^| `' "$work/out")" = "$(wc -l < "$work/measured")" ] ||
        { echo "compare_test: some lines of $file are not in the table"; failed=1; }
    [ "$(grep -Evc ' (fitted|judged|control)$' "$work/measured")" = 0 ] ||
        { echo "compare_test: a line of $file does not end with fitted, judged or control"; failed=1; }
done

[ $failed = 0 ] && echo "the analysis of make validate: correct on the tables computed by hand"
exit $failed
