#!/bin/bash
# check.sh - `make check` on a simulated GPU, compared with its known deviations.
#
#     tests/sim/time/check.sh BUILD DEVICE [LAB...] [OPTION...]     DEVICE: sim, sim:h200, ...; OPTION: of
#                                                                   warpbook check
#
# If the model of time gives a kernel another verdict than its first line, the model is not adjusted. The
# rows that say BAD must be exactly those of known.txt for this device, with their causes; otherwise the
# script fails, and the list must be fixed. Checks the given labs, or all; as many in parallel as there
# are processors, since each process has its own simulated GPU.
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=$(cd "${1:?the build folder}" && pwd)
device=${2:?the device}
shift 2
labs=()
while [ $# -gt 0 ] && [[ $1 != -* ]]; do
    labs+=("$1")
    shift
done
[ ${#labs[@]} -gt 0 ] || mapfile -t labs < <("$build/warpbook" labs | sed 's/ .*//')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C WARPBOOK_BUILD=$build work device

# LAB [OPTION...]: what is said of it is printed when all of it is there.
prove() {
    local status=0 said=$work/${1//\//,}.said
    "$WARPBOOK_BUILD/warpbook" check "$@" --device "$device" > "$said" || status=$?
    flock "$work" cat "$said"
    [ $status -le 1 ] || echo "$1 $status" >> "$work/ended_badly"
}
export -f prove
# The last labs take longest, so they start first.
printf '%s\n' "${labs[@]}" | tac | xargs -P "$(nproc)" -I LAB bash -c 'prove "$@"' - LAB "$@"
if [ -e "$work/ended_badly" ]; then
    sed 's/\(.*\) \(.*\)/check: lab \1 ended with status \2/' "$work/ended_badly"
    exit 3
fi
cat "$work"/*.said > "$work/said"
awk '/^[0-9][0-9] [a-z]/ { lab = $1 "_" $2 }
     /^  BAD / { what = substr($0, 8, 34); sub(/ +$/, "", what); print lab "\t" what }' "$work/said" | sort -u > "$work/bad"
awk '/^[0-9][0-9] [a-z]/ { print $1 "_" $2 }' "$work/said" > "$work/labs"
awk -F '\t' -v device="$device" 'NR == FNR { asked[$1] = 1; next } !/^#/ && $1 == device && $2 in asked { print $2 "\t" $3 }' \
    "$work/labs" tests/sim/time/known.txt | sort -u > "$work/known"
if ! diff "$work/known" "$work/bad" > "$work/differs"; then
    echo "check: < is in tests/sim/time/known.txt and was as it should be, > was not and is not in it:"
    cat "$work/differs"
    exit 1
fi
echo "check: $(wc -l < "$work/bad") rows are not as they should be, all of them known: tests/sim/time/known.txt"
