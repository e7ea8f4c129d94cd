#!/bin/bash
# run.sh - grades the commonest CUDA mistakes on the simulated GPU, and compares what a student reads.
#
#     tests/mistakes/run.sh BUILD [NAME...]
#     tests/mistakes/run.sh BUILD --accept                rewrites expected.txt; read its diff
#     tests/mistakes/run.sh BUILD --accept NAME...        only prints what it would say of these
#
# Each NAME.cu has one mistake; its first lines say "// lab: LAB" and "// mistake: ...". expected.txt holds, for each,
# the verdict, the reason, what the kernel printed and the comment of make hint, wrapped at 80 columns.
. "$(dirname "$0")/../check.sh"
cd "$(dirname "$0")/../.." || exit
build=$(realpath "${1:?the build folder}")
shift
here=$PWD/tests/mistakes accept=
if [ "${1:-}" = --accept ]; then
    accept=1
    shift
fi
nvcc=$(. grader/build/toolkit.sh && echo "$nvcc")
if [ -z "$nvcc" ]; then
    skip "there is no nvcc"
    finish
    exit
fi

# The workbook with a kernel.cu of its own in each lab, so that make hint has a grading to comment on.
cp -r labs "$work/labs"
ln -s "$PWD/common" "$PWD/solutions" "$work"
cd "$work" || exit

value() { # KEY FILE
    sed -n "s/^$1://p" "$2"
}

said() { # NAME: what a student reads
    local lab file=$here/$1.cu
    lab=$(sed -n 's|^// lab: ||p' "$file")
    cp "$file" labs/??_"$lab"/kernel.cu
    WARPBOOK_BUILD=$build "$build/warpbook" grade "$lab" --device sim --seed 1 --format lines > graded 2>&1
    WARPBOOK_BUILD=$build "$build/warpbook" hint "$lab" > hint 2>&1
    echo "== $1: $(sed -n 's|^// mistake: ||p' "$file")"
    printf "%b\n" "$(value verdict graded): $(value why graded)" | sed -E "s/0x[0-9a-f]{9,}/0x.../g" | fold -s -w 80
    printf '%b' "$(value printed graded)" | sed 's/^/printed: /'
    value note graded | sed 's/^/note: /' | fold -s -w 80
    sed -n '/^Your last grading/,/^$/p' hint
    echo
}

same() { # NAME
    said "$1" > now
    awk -v name="$1" '/^== / { on = index($0, "== " name ":") == 1 } on' "$here/expected.txt" | diff - now
}

names=("$@")
[ $# -gt 0 ] || names=($(cd "$here" && printf '%s\n' [0-9]*.cu | sed 's/\.cu$//' | sampled))
for name in "${names[@]}"; do
    if [ -n "$accept" ]; then
        said "$name" > now
        [ $# -gt 0 ] && cat now || cat now >> all
    else
        check "$name" same "$name"
    fi
done
[ ! -s all ] || cp all "$here/expected.txt"
finish
