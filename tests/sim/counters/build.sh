#!/bin/bash
# build.sh - builds the programs whose counters are compared: the patterns, the lab driver, and the kernels
# of the labs.
#
#     tests/sim/counters/build.sh BUILD WORK JOBS CC [LABELS]
#
# Run it from the repository's root. BUILD is the Makefile's folder, where the kernels of the labs are built
# as for grading, for compute capability CC (such as 8.0), and kept for later steps. It writes `patterns`,
# `lab_driver`, and the lists `objects` (LABEL LAB OBJECT) and `not_built` to WORK. The patterns and the
# driver are rebuilt only if their sources are newer. Kernels that must be rejected, or that never end, are
# skipped, and if the file LABELS is given, so are kernels without a launch in it (LABEL, or LABEL/CASE).
set -u
build=$1
work=$2
jobs=$3
cc=$4
labels=${5:-}
. grader/build/toolkit.sh
here=tests/sim/counters
sm=${cc/./}
flags=(-O3 -lineinfo --no-compress -cudart shared) # as in grader/build/compile.c
flags+=(-gencode arch=compute_80,code=compute_80 -gencode "arch=compute_$sm,code=sm_$sm")
mkdir -p "$work"
rm -f "$work/not_built" "$work"/object.*

fail()
{
    echo "build.sh: $*" >&2
    exit 1
}

# is_fresh OBJECT SOURCE...: whether no source is newer than the object.
is_fresh()
{
    local object=$1 source
    shift
    for source; do
        [ "$object" -nt "$source" ] || return 1
    done
}

build_patterns()
{
    is_fresh "$work/patterns" $here/*.cu* ||
        "$nvcc" "${flags[@]}" -std=c++17 --threads 2 -o "$work/patterns" $here/patterns.cu
}

# The time step of lab 04 was 1/128 when the fixture was measured on an H200; it has changed since.
build_lab_04()
{
    sed 's|1\.0f / 4;|1.0f / 128;|' labs/04_ilp_tlp/lab.c |
        gcc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Icommon -Ilabs/04_ilp_tlp -c -o "$work/lab_04.o" -x c -
}

build_driver()
{
    local labs
    labs=$(printf "$build/%s\n" labs/*/lab.c | sed "s/c\$/o/; s|^.*/04_ilp_tlp/.*|$work/lab_04.o|")
    build_lab_04 || return
    env -u MAKEFLAGS make -s B="$build" "$build/registry_table.o" "$build"/grader/base/{registry,util,number}.o $labs > /dev/null ||
        return 1
    is_fresh "$work/lab_driver" $here/lab_driver.c $here/marker.cu $here/counted_hash.h common/*.h labs/*/lab.c \
        "$build/registry_table.o" && return
    "$nvcc" "${flags[@]}" -c -o "$work/marker.o" $here/marker.cu &&
        gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-missing-field-initializers -Icommon \
            -Igrader -I"$cuda/include" -o "$work/lab_driver" $here/lab_driver.c "$work/marker.o" \
            "$build/registry_table.o" "$build"/grader/base/{registry,util,number}.o $labs \
            -L"$cuda/lib64" -L"$cuda/targets/x86_64-linux/lib" -Wl,-rpath,"$cuda/lib64" -lcudart \
            -lstdc++ -ldl -lm
}

# build_kernel LABEL LAB SOURCE
build_kernel()
{
    local said
    said=$(WARPBOOK_BUILD=$build "$build/warpbook" build "$2" --submission "$3" --cc "$cc" --format lines 2>&1)
    case $said in
    object:*) echo "$1 $2 ${said#object:}" > "$work/object.$(echo "$1" | tr / .)" ;;
    *) echo "$3: $said" | head -3 >> "$work/not_built" ;;
    esac
}

# Lists all kernels that may be run: LABEL LAB SOURCE. The label is LAB/NAME or LAB/wrong/NAME. A lab without a row in
# cases.txt has not been counted on a GPU yet, so its kernels need not be built.
list_kernels()
{
    local source lab label
    for source in solutions/*/*.cu solutions/*/*/*.cu; do
        lab=${source#solutions/}
        label=${lab%.cu}
        lab=${lab%%/*}
        grep -q "^$lab " $here/cases.txt || continue
        head -1 "$source" | grep -qE '^// expect: (build|timeout)' ||
            echo "$label $lab $source"
    done | if [ -n "$labels" ]; then
        awk 'NR == FNR { sub(/\/[^\/]*$/, ""); wanted[$1] = 1; next } $1 in wanted' "$labels" -
    else
        cat
    fi
}

[ -x "$nvcc" ] || fail "nvcc not found"
[ -x "$build/warpbook" ] || fail "$build/warpbook not found: run make"
build_patterns & # takes 10 s for two architectures, in parallel with the kernels
patterns=$!
build_driver || fail "the driver does not build"
export -f build_kernel
export build work cc
list_kernels | xargs -P "$jobs" -L 1 bash -c 'build_kernel "$@"' -
wait $patterns || fail "the patterns do not build"
list_kernels | while read -r label lab source; do
    cat "$work/object.$(echo "$label" | tr / .)" 2> /dev/null
done > "$work/objects"
rm -f "$work"/object.*
