#!/bin/bash
# refused.sh BUILD - checks that the build refuses cheats, with the real compiler if installed. Needs no GPU.
set -uo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
. tests/check.sh
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_BUILD=$work/build WARPBOOK_PATIENCE=20 TMPDIR=$work

. grader/build/toolkit.sh
tree=$work/tree
mkdir -p "$tree/tests/cheats" "$tree/tests/honest"
ln -s "$PWD"/{common,grader,labs,solutions} "$tree"
(cd tests/cheats && printf '%s\n' * | sampled | xargs -I{} cp {} "$tree/tests/cheats")
cd "$tree" || exit
if [ -n "$nvcc" ]; then
    check "cheats that the build refuses" "$build/warpbook" check-cheats --builds-only
else
    skip "no nvcc: the cheats that a build must refuse were not tried"
fi

finish
