#!/bin/bash
# split.sh - computes the halves of the blind set from the names, and compares them with those of cases.def.
#
#     tests/sim/blind/split.sh [--write]
#
# Exit status 1: a half differs. --write: writes the halves to cases.def.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

names()
{
    sed -n 's/^CASE(\([a-z]*\), [a-z]*, \([a-z0-9_]*\))$/\1 \2/p' cases.def
}

# halves: `FAMILY NAME HALF`, in each family in the order of the hashes
halves()
{
    names | while read -r family name; do
        echo "$family $(printf %s "$name" | sha256sum | cut -c1-64) $name"
    done | sort | awk '{ print $1, $3, NR % 2 ? "open" : "sealed" }'
}

computed=$(halves | awk 'NR == FNR { half[$2] = $3; next }
    /^CASE/ { split($0, part, /[(), ]+/); sub(/, (open|sealed),/, ", " half[part[4]] ",") } { print }' - cases.def)
if [ "${1:-}" = --write ]; then
    echo "$computed" > cases.def
else
    diff cases.def - <<< "$computed"
fi
