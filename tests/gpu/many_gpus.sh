#!/bin/bash
# many_gpus.sh BUILD [LAB [STUDENTS [DEVICES]]] - grades a class (tests/gradebook/class.sh) on several GPUs, then on the
# first of them alone, and compares speed and results.
#
# Default: lab 6, 64 students, GPUs 0,1,2,3. A rate is the number of kernels graded on a GPU over the time from the
# start of the first such grading to the end of the last (a kernel that does not build needs no GPU). The times of the
# whole commands, which build the references, are printed as well. For each GPU it prints how many kernels it graded,
# and for how many seconds it was idle before its first grading, between two, and after its last. Exit status 1: a
# verdict differs or is not as expected, the medians of the ratio differ by more than 1 %, or the rate, relative to
# one GPU, is less than 0.9 times the number of GPUs. Needs sqlite3 and the tools that class.sh needs.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:?the build folder} lab=${2:-6} students=${3:-64} devices=${4:-0,1,2,3}
gpus=$(awk -F, '{ print NF }' <<< "$devices")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# run NAME DEVICES: grades the class and writes `hash, verdict, ratio` of each kernel to $work/NAME.rows.
run() {
    echo "== on $2"
    DEVICES=$2 tests/gradebook/class.sh "$build" "$students" "$lab" "$work/$1" > "$work/$1.said" || failed=1
    cat "$work/$1.said"
    sqlite3 -readonly -separator '|' "$work/$1/results/gradebook.sqlite" > "$work/$1.rows" \
        "SELECT k.hash, v.verdict, coalesce(v.ratio, 0) FROM progress p JOIN kernels k ON k.id = p.kernel
         JOIN verdicts v ON v.attempt = p.latest ORDER BY 1"
    sqlite3 -readonly -separator ' ' "$work/$1/results/gradebook.sqlite" > "$work/$1.spans" \
        "SELECT a.device, strftime('%s', a.began), strftime('%s', a.began) + a.seconds FROM attempts a LEFT JOIN verdicts v ON v.attempt = a.id
         WHERE coalesce(v.verdict, '') <> 'build' ORDER BY a.began, a.id"
    awk '
        NR == 1 || $2 < first { first = $2 }
        $3 > last { last = $3 }
        !count[$1]++ { begin[$1] = $2 }
        { busy[$1] += $3 - $2; if ($3 > end[$1]) end[$1] = $3 }
        END {
            for (gpu in count)
                printf("  GPU %s: %d gradings, %.1f s each; idle %.1f s before, %.1f s between, %.1f s after\n", gpu, count[gpu],
                    busy[gpu] / count[gpu], begin[gpu] - first, end[gpu] - begin[gpu] - busy[gpu], last - end[gpu])
            print last - first > seconds
        }' seconds="$work/$1.seconds" "$work/$1.spans"
}

run all "$devices"
run one "${devices%%,*}"
join -t'|' "$work/all.rows" "$work/one.rows" > "$work/both"
awk -F'|' -v gpus="$gpus" -v all_s="$(cat "$work/all.seconds")" -v one_s="$(cat "$work/one.seconds")" \
    -v kernels="$(wc -l < "$work/all.rows")" '
    $2 != $4 { differ++; print "  kernel " $1 ": " $2 " on several, " $4 " on one" }
    $3 > 0 && $5 > 0 {
        by = $3 > $5 ? $3 / $5 - 1 : $5 / $3 - 1
        if (by > most) most = by
        compared++
    }
    END {
        printf("%d kernels: %d verdicts differ; of %d ratios the worst differs by %.2f %%\n", NR, differ, compared, 100 * most)
        printf("from the first start to the last end: %.0f s on %d GPUs, %.0f s on one: %.2f times the rate\n", all_s,
            gpus, one_s, one_s / all_s)
        exit differ || NR < kernels || most > 0.01 || one_s / all_s < 0.9 * gpus
    }' "$work/both" || failed=1
[ -z "${OUT:-}" ] || cp "$work"/*.rows "$work"/*.spans "$work"/*.said "$OUT"/
exit $failed
