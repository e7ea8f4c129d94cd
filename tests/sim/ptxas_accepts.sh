#!/bin/bash
# ptxas_accepts.sh - checks that ptxas accepts the PTX of the unit tests, and that it covers all opcodes.
#
#     tests/sim/ptxas_accepts.sh UNIT_TESTS
#
# The tests store the texts that they run (tests/sim/sim_snippets.h), and ptxas compiles each of them. A
# text with the comment `// wrong` must be rejected. Each opcode of ops.def must occur in an accepted text.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$(realpath "${1:?the program of unit tests}")
. "$here/../../grader/build/toolkit.sh"
ptxas=$cuda/bin/ptxas
ops=$here/../../grader/sim/ptx/ops.def
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if [ ! -x "$ptxas" ]; then
    echo "snippets: skipped, ptxas not found"
    exit 0
fi

# judge TEXT: prints errors.
judge()
{
    if "$ptxas" -O0 -arch=sm_90 -o /dev/null "$1" > "$1.said" 2>&1; then
        grep -q '// wrong' "$1" && echo "$(basename "$1"): accepted, but should be rejected"
    elif ! grep -q '// wrong' "$1"; then
        echo "$(basename "$1"): $(grep -m1 -e error -e fatal "$1.said" | sed 's/.*ptx, //')"
    fi
}

# Whether the tests pass is checked elsewhere.
SIM_SNIPPETS=$work "$tests" > "$work/log" 2>&1
export ptxas
export -f judge
find "$work" -name '*.ptx' | sort |
    xargs -P "$(nproc)" -I{} bash -c 'judge "$1"' - {} > "$work/wrong"
if [ -s "$work/wrong" ]; then
    cat "$work/wrong"
    failed=1
fi

# The opcodes that occur, up to their first dot, and the ones that must occur.
grep -hv '// wrong' "$work"/*.ptx | sed -E 's/^([A-Za-z0-9_]+:)? *(@!?%[a-z0-9]+ )?//' |
    grep -oE '^[a-z0-9]+[. ;]' | tr -d '. ;' | sort -u > "$work/there"
sed -nE 's/^OP\(([a-z0-9_]+),.*/\1/p; s/^OP2\([a-z_]+, "([a-z]+)".*/\1/p' "$ops" |
    sort -u > "$work/must"
# alloca and istypep are parsed but not simulated: they are reported when they are reached. setmaxnreg needs
# sm_90a.
missing=$(comm -13 "$work/there" "$work/must" | grep -vx -e alloca -e istypep -e setmaxnreg | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "no snippet for: $missing"
    failed=1
fi
echo "snippets: $(find "$work" -name '*.ptx' | wc -l) texts, $(wc -l < "$work/must") opcodes"
exit $failed
