#!/bin/bash
# quiz.sh BUILD [LAB...] - the quiz on real kernels: each lab's reference and one more kernel that passes get three
# questions of different kinds; right answers are accepted and wrong ones are not; answers equal what `warpbook draw`
# and `warpbook explain` print about the same kernel, which they count elsewhere. Needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
shift
case $build in /*) ;; *) build=$PWD/$build ;; esac
export WARPBOOK_BUILD=$build
. tests/check.sh

quiz() { "$build/warpbook" quiz "$@" --device sim --format lines; }
draw() { "$build/warpbook" draw "$@" 2> /dev/null | tr -s '[:space:]' ' '; }

# value KEY: of the lines in $work/quiz.
value() { sed -n "s/^$1://p" "$work/quiz"; }

# about_three LAB KERNEL: three questions about the kernel, of different kinds, and at least two others; nothing is
# answered yet, and the same kernel gets the same questions.
about_three() {
    quiz "$1" --submission "$2" > "$work/quiz" || return 1
    [ "$(value asked)" = 3 ] && [ "$(value transfer_asked)" -ge 2 ] && [ "$(value right)" = 0 ] &&
        [ "$(sed -n 's/^question\.[123]\.key:\([a-z_]*\).*/\1/p' "$work/quiz" | sort -u | wc -l)" = 3 ]
}

# accepts LAB KERNEL: the first answer is wrong, all others are right.
accepts() {
    local answers="-12345" i
    for i in 2 3 4 5 6 7; do answers+=,$(value "question.$i.answer"); done
    quiz "$1" --submission "$2" --answers "${answers%%,,*}" > "$work/again"
    diff <(grep -E 'key:|text:' "$work/quiz") <(grep -E 'key:|text:' "$work/again") || return 1
    grep -qx 'right:2' "$work/again" && grep -qx "transfer_right:$(value transfer_asked)" "$work/again"
}

# near A B: within the six digits and the one decimal that commands print.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= 0.0026) }'; }

# The number that draw prints for the sectors or banks of a line.
per_request() { # KIND LAB KERNEL LINE
    draw "$1" "$2" --submission "$3" --line "$4" | sed -n 's/.* \([0-9.]*\) per request.*/\1/p'
}

# recomputed LAB KERNEL KEY ANSWER: 0 if another command prints the same; 2 if no other command prints it.
recomputed() {
    local line=${3#*@}
    case $3 in
    load_sectors@* | store_sectors@*) near "$4" "$(per_request sectors "$1" "$2" "$line")" ;;
    wavefronts@*) near "$4" "$(per_request banks "$1" "$2" "$line")" ;;
    costliest_line@*) "$build/warpbook" explain "$1" --submission "$2" | grep -o 'kernel.cu:[0-9]*' | grep -qx "kernel.cu:$line" ;; # at its own size
    *) return 2 ;;
    esac
}

same_elsewhere() { # LAB KERNEL
    local i key status
    for i in 1 2 3; do
        key=$(value "question.$i.key") status=0
        [ -n "$key" ] || return 1
        recomputed "$1" "$2" "$key" "$(value "question.$i.answer")" || status=$?
        [ $status = 1 ] && { echo "$key: $(value "question.$i.answer") is not what draw or explain prints"; return 1; }
        [ $status = 0 ] && compared=$((compared + 1))
    done
    return 0
}

compared=0
labs=${*:-$(ls labs)}
for lab in $labs; do
    reference=$(find solutions/"$lab" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
    other=$(grep -l '^// expect: pass' tests/honest/"$lab"_*.cu solutions/"$lab"/[1-9]*.cu 2> /dev/null | grep -vx "$reference" | head -1)
    for kernel in "$reference" $other; do
        check "$kernel: three questions" about_three "$lab" "$kernel"
        check "$kernel: right and wrong answers" accepts "$lab" "$kernel"
        check "$kernel: the same numbers elsewhere" same_elsewhere "$lab" "$kernel"
    done
done
[ -n "$*" ] || check "answers that other commands print were among them" test "$compared" -ge 5
check "a starter is not asked about" status_is 1 quiz coalescing --submission solutions/01_coalescing/0_starter.cu
check "two labs are too many" status_is 2 quiz 1 2

echo "quiz: $passed passed, $failed failed, $compared answers recomputed"
[ $failed = 0 ]
