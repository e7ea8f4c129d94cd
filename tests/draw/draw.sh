#!/bin/bash
# draw.sh BUILD [--write] - warpbook draw on real kernels: records equal the counters of the report; pictures are
# well-formed, the same each time, show the figures that the lessons teach, and equal those in docs/. Needs nvcc.
# --write: only redraws the pictures in docs/.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build} write=${2:-} failed=0
export WARPBOOK_BUILD=$build
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
    echo "FAILED: $*"
    failed=1
}

# says EXPECTED ARGUMENTS...: the output of draw contains EXPECTED.
says() {
    local expected=$1 printed
    shift
    printed=$("$build/warpbook" draw "$@" 2>&1)
    [[ $printed == *"$expected"* ]] || fail "draw $*: '$expected' is missing"
}

# exits STATUS ARGUMENTS...
exits() {
    local expected=$1 status=0
    shift
    "$build/warpbook" draw "$@" > /dev/null 2>&1 || status=$?
    [ $status = "$expected" ] || fail "draw $*: status $status, expected $expected"
}

# draws KIND LAB...: the picture is well-formed, and a second run gives the same bytes.
draws() {
    "$build/warpbook" draw "$@" --svg "$out/a.svg" 2> "$out/said" && "$build/warpbook" draw "$@" --svg "$out/b.svg" ||
        fail "draw $*"
    grep -qxF "written: $out/a.svg" "$out/said" || fail "draw $*: does not say what it wrote"
    cmp -s "$out/a.svg" "$out/b.svg" || fail "draw $*: another run gives other bytes"
    ! command -v xmllint > /dev/null || xmllint --noout "$out/a.svg" || fail "draw $*: not well-formed"
}

# in_docs NAME KIND LAB...: docs/NAME.svg equals that picture.
in_docs() {
    local name=$1
    shift
    if [ "$write" = --write ]; then
        "$build/warpbook" draw "$@" --svg "docs/$name.svg"
    else
        "$build/warpbook" draw "$@" --svg "$out/$name.svg" && cmp -s "$out/$name.svg" "docs/$name.svg" ||
            fail "docs/$name.svg is another picture than draw $*; tests/draw/draw.sh $build --write draws it anew"
    fi
}

in_docs drawing-sectors sectors 1 --submission solutions/01_coalescing/0_starter.cu
in_docs drawing-tiles tiles 9 --submission solutions/09_sgemm/6_warp_tiles.cu
[ "$write" != --write ] || exit 0

for lab in 01_coalescing 06_transpose 07_reduction; do
    "$build/draw_compare" $lab solutions/$lab/[0-9]*.cu || failed=1
done
"$build/draw_compare" 06_transpose solutions/06_transpose/wrong/{overrun_one_row,no_barrier,tile_unpadded}.cu || failed=1

says '32 lanes touch 32 sectors; 4 would hold' sectors 1 --submission solutions/01_coalescing/0_starter.cu
says '32 lanes touch 4 sectors' sectors 1 --submission solutions/01_coalescing/2_lanes_along_features.cu
says '32 lanes need 32 wavefronts; 1 without bank conflicts' banks 6 --submission solutions/06_transpose/4_tile.cu
says 'no bank conflicts' banks 6 --submission solutions/06_transpose/5_padded.cu
says 'row    1  #1' banks 6 --submission solutions/06_transpose/5_padded.cu
says '9 blocks on 8 SMs' blocks 8 --submission solutions/08_tail_effect/0_starter.cu
says 'out of bounds' sectors 6 --submission solutions/06_transpose/wrong/overrun_one_row.cu
says 'accesses no shared memory' banks 1
says 'Measured: NVIDIA H200' ladder 6
says 'copy to host' streams 5 --submission solutions/05_streams/3_three_buffers.cu
says 'the warp that stores it' tiles 9 --submission solutions/09_sgemm/6_warp_tiles.cu
says 'your kernel' roofline 1

draws sectors 6 --theme dark
draws lanes 3
draws streams 5 --submission solutions/05_streams/3_three_buffers.cu
draws tiles 9 --submission solutions/09_sgemm/6_warp_tiles.cu
draws ladder 9

exits 0 --help
exits 1 banks 1
exits 1 sectors 1 --line 3
exits 2
exits 2 sectors
exits 2 sectors 1 6
exits 2 nothing 1
exits 2 sectors 1 --theme pink
exits 2 sectors 1 --case unknown
exits 3 sectors 1 --submission "$out/absent.cu"

[ $failed = 0 ] && echo "draw: passed"
exit $failed
