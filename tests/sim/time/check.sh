#!/bin/bash
# check.sh - `make check` on a simulated GPU, compared with its known deviations.
#
#     tests/sim/time/check.sh BUILD DEVICE [LAB...] [OPTION...]     DEVICE: sim, sim:h200, ...; OPTION: of
#                                                                   warpbook check
#
# If the timing model gives a kernel another verdict than its first line, the model is not adjusted. Instead,
# the kernel is listed in known.txt with the cause. The rows marked BAD must be exactly those listed for this
# device; otherwise the script fails. Checks the given labs, or all, one per processor in parallel, since each
# process has its own simulated GPU.
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

# prove LAB [OPTION...]: prints the output of one lab when it is complete.
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
    echo "check: differences from tests/sim/time/known.txt (<: listed but correct, >: not listed but BAD):"
    cat "$work/differs"
    exit 1
fi
echo "check: $(wc -l < "$work/bad") rows are BAD, all listed in tests/sim/time/known.txt"
