#!/bin/bash
# expect: build - a kernel.cu that is not a source file: a link, a pipe, a folder, an object, a hundred megabytes
#
# Such a file could have another file compiled, make the grader wait forever, or fill its memory. Known
# (exploits 23, 25, 26). Defence: a source is a regular file of plain text of at most 256 KiB, and links
# are not followed. Needs neither nvcc nor a GPU where the scripted runner is built.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${WARPBOOK_BUILD:-build}
program=$build/warpbook fake=$build/fake_runner
[ -z "${WARPBOOK_RUNNER:-}" ] || fake=$WARPBOOK_RUNNER program=$(dirname "$WARPBOOK_RUNNER")/warpbook
work=$(mktemp -d)
trap 'chmod -R u+rw "$work"; rm -rf "$work"' EXIT
if [ ! -x "$fake" ]; then
    echo "  --   is_no_source: make test builds the scripted runner that it needs"
    exit 0
fi
export WARPBOOK_RUNNER=$fake WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_BUILD=$work/build
kernel=$work/kernel.cu
missed=0

try() { # NAME [PATTERN]: $kernel gets `build` within 10 s, and the reason matches the pattern
    local said
    said=$(timeout 10 "$program" grade 6 --quick --format lines --submission "$kernel" 2>&1)
    if grep -q '^verdict:build$' <<< "$said" && grep -qE -- "${2:-.}" <<< "$(sed -n 's/^why://p' <<< "$said")"; then
        echo "  ok   is_no_source: $1"
    else
        echo "  BAD  is_no_source: $1: expected build: ${2:-}"
        sed 's/^/       /' <<< "$said" | head -5
        missed=1
    fi
    chmod -R u+rw "$kernel" 2> /dev/null
    rm -rf "$kernel"
}

ln -s /etc/passwd "$kernel"
try "a link to /etc/passwd" "is a symbolic link"
ln -s "$PWD/solutions/06_transpose/5_padded.cu" "$kernel"
try "a link to the reference" "is a symbolic link"
ln -s /dev/zero "$kernel"
try "a link to /dev/zero" "is a symbolic link"
mkfifo "$kernel"
try "a pipe that no process writes to" "not a regular file"
head -c 100000000 /dev/zero | tr '\0' '/' > "$kernel"
try "a hundred megabytes" "larger than 256 KiB"
head -c 4096 /bin/true > "$kernel"
try "a program" "not plain text"
printf '\n \n' > "$kernel"
try "only whitespace" "is empty"
if [ "$(id -u)" != 0 ]; then
    cp solutions/06_transpose/1_naive.cu "$kernel"
    chmod 0 "$kernel"
    try "a file that cannot be read" "cannot be read"
fi
exit $missed
