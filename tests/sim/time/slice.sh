#!/bin/bash
# slice.sh - compares ratios on a slice with those on the whole device: runs rungs of the labs on a slice of the
# simulated H200 and on the whole (SIM_WHOLE), which takes that many times longer.
#
#     tests/sim/time/slice.sh BUILD [PREFIX]     BUILD holds libcudart-sim.so; PREFIX: only these names
#
# Ratios are relative to the lab's reference on the same device. The work per SM is the same on both; cases that
# must exceed the L2 are a twelfth of the size measured on an H200. Small cases, which are dominated by launches,
# are left out. Exit status 1: a ratio on the slice is not within 5 % of the ratio on the whole.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/sim/time/programs.sh
begin "${1:?the build folder}"
prefix=${2:-}
smaller=12
slices=11

# The last rung of a lab is its reference.
rungs="
01_coalescing.1_feature_a_block 01_coalescing.2_lanes_along_features
02_bank_conflicts.1_packed 02_bank_conflicts.3_swizzle 02_bank_conflicts.4_odd_pitch
03_divergence.1_item_a_thread 03_divergence.3_runs
06_transpose.1_naive 06_transpose.4_tile 06_transpose.5_padded
07_reduction.1_divergent_tree 07_reduction.5_shuffles 07_reduction.7_four_loads
08_tail_effect.1_row_a_block 08_tail_effect.3_eighths 08_tail_effect.5_pixels
09_sgemm.1_naive 09_sgemm.4_square 09_sgemm.9_three_pairs"

for name in $rungs; do
    case $name in "$prefix"*) ;; *) continue ;; esac
    compile_rung "$name"
    simulate "$work/$name" $((slices * smaller)) | sed 's/^/slice /'
    SIM_WHOLE=1 simulate "$work/$name" $smaller | sed 's/^/whole /'
done | grep -Ev '[.](short|small) ' > "$work/slices"

LC_ALL=C awk '
    {
        rate[$1, $2] = $3
        if ($1 == "whole") name[++n] = $2
        split($2, word, "."); reference[$1, word[1], word[3]] = $3
    }
    END {
        print "| kernel | slice | whole | of its ratio |"; print "|---|---|---|---|"
        for (i = 1; i <= n; i++) {
            split(name[i], word, ".")
            slice = rate["slice", name[i]] / reference["slice", word[1], word[3]]
            whole = rate["whole", name[i]] / reference["whole", word[1], word[3]]
            far = slice / whole > 1.05 || slice / whole < 0.95
            wrong += far
            printf("| `%s` | %.3f | %.3f | %.3f%s |\n", name[i], slice, whole, slice / whole, far ? " *" : "")
        }
        printf("%d ratios of a slice, %d not within 5 %% of the whole'"'"'s\n", n, wrong)
        exit wrong > 0 || !n
    }' "$work/slices"
