#!/bin/bash
# quiz.sh BUILD - a quiz that students hand in: gradebook computes the right answers itself, shows how many are right,
# and counts them only if the course file gives them a share. Needs nvcc; uses the simulated GPU.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
export WARPBOOK_BUILD=$build
. tests/check.sh

class=$work/class lab=01_coalescing
kernel=$(find solutions/01_coalescing -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)

"$build/warpbook" quiz "$lab" --submission "$kernel" --device sim --format lines > "$work/quiz" || exit 1
value() { sed -n "s/^$1://p" "$work/quiz"; }

# hands_in NAME KERNEL_HASH ANSWER1 ANSWER2 ANSWER3
hands_in() {
    local folder=$class/$1/labs/$lab i
    mkdir -p "$folder"
    cp "$kernel" "$folder/kernel.cu"
    {
        printf '# remarks\nkernel: %s\ndevice: %s\n' "$2" "$(value device)"
        for i in 1 2 3; do echo "$(value "question.$i.key"): $3"; shift; done
    } > "$folder/quiz.txt"
}

one=$(value question.1.answer) two=$(value question.2.answer) three=$(value question.3.answer) hash=$(value kernel)
hands_in ann "$hash" "$one" "$two" "$three"
hands_in bob "$hash" "$one" -5 "$three"
hands_in cyd 0123456789abcdef "$one" "$two" "$three" # about another kernel
hands_in dan "$hash" "$one" "$two" "$three"
rm "$class/dan/labs/$lab/quiz.txt"
hands_in eve "$hash" "$one" "$two" "$three"
head -c 100000 /dev/zero | tr '\0' 'x' >> "$class/eve/labs/$lab/quiz.txt" # not a sheet any more

counts() { # SHARE: writes the course file
    printf '[course]\ndevice = sim:teaching\n[all]\nseed = 1f0e2d3c4b5a6978\n%s\n' "${1:+quiz = $1}" > "$work/course.ini"
}
gradebook() { "$build/gradebook" "$@" --out "$work/book"; }
grade() { gradebook grade "$class" --labs "$lab" --course "$work/course.ini"; }
row() { gradebook export --format csv | awk -F, -v name="$1" '$1 ~ name' ; }
marks_are() { [ "$(row "$1" | cut -d, -f5)" = "$2" ] || { row "$1"; return 1; }; }

counts ""
check "graded without the quiz" grade
check "not counted, not shown" not says "quiz" gradebook report --verbose
check "full marks" marks_are dan 100.0

counts 0
check "graded with the quiz" grade
check "three are right" says "ann.*quiz 3 of 3" bash -c "$build/gradebook report --verbose --out $work/book | tr '\n' ' '"
check "shown, not counted" marks_are bob 100.0

counts 0.3
check "the share is changed" grade
check "all right" marks_are ann 100.0
check "two of three" marks_are bob 90.0
check "about another kernel" marks_are cyd 70.0
check "none handed in" marks_are dan 70.0
check "a sheet that is too large" marks_are eve 70.0

echo "gradebook quiz: $passed passed, $failed failed"
[ $failed = 0 ]
