#!/bin/bash
# build.sh - builds what is counted: the patterns, the labs' driver, and the labs' kernels.
#
#     tests/sim/counters/build.sh BUILD WORK JOBS GENCODE...
#
# From the repository's root. BUILD is the Makefile's folder; into WORK go `patterns`, `lab_driver`
# and LAB.NAME.so, and the lists `objects` (LABEL LAB OBJECT) and `not_built`. What is newer than
# its source is left. A GENCODE is an argument of nvcc's -gencode. Kernels that are to be refused, or
# that never end, are left out.
set -u
build=$1
work=$2
jobs=$3
shift 3
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
here=tests/sim/counters
flags=(-O3 -lineinfo --no-compress -cudart shared) # as in grader/compile.c
for gencode; do
    flags+=(-gencode "$gencode")
done
mkdir -p "$work"
rm -f "$work/not_built"

fail()
{
    echo "build.sh: $*" >&2
    exit 1
}

# is_fresh OBJECT SOURCE...: nothing is newer than the object.
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

build_driver()
{
    local labs
    labs=$(printf "$build/%s\n" labs/*/lab.c | sed 's/c$/o/')
    env -u MAKEFLAGS make -s B="$build" "$build/registry_table.o" "$build/grader/registry.o" $labs > /dev/null ||
        return 1
    is_fresh "$work/lab_driver" $here/lab_driver.c $here/marker.cu common/*.h \
        "$build/registry_table.o" && return
    "$nvcc" "${flags[@]}" -c -o "$work/marker.o" $here/marker.cu &&
        gcc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-missing-field-initializers -Icommon \
            -Igrader -I"$cuda/include" -o "$work/lab_driver" $here/lab_driver.c "$work/marker.o" \
            "$build/registry_table.o" "$build/grader/registry.o" $labs \
            -L"$cuda/lib64" -L"$cuda/targets/x86_64-linux/lib" -Wl,-rpath,"$cuda/lib64" -lcudart \
            -lstdc++ -ldl -lm
}

# build_kernel LABEL LAB SOURCE: what is removed, if it does not build, lies in WORK.
build_kernel()
{
    local object said
    object=$work/$(echo "$1" | tr / .).so
    is_fresh "$object" "$3" "labs/$2/kernel.h" common/*.h common/*.cuh && return
    rm -f "$object"
    said=$("$nvcc" "${flags[@]}" -shared -Xcompiler -fPIC,-fvisibility=hidden -Ilabs/"$2" \
        -Icommon -o "$object.new" "$3" 2>&1) && mv "$object.new" "$object" && return
    echo "$3: $said" | head -3 >> "$work/not_built"
}

# All kernels that may be run: LABEL LAB SOURCE. The label is LAB/NAME or LAB/wrong/NAME.
list_kernels()
{
    local source lab label
    for source in solutions/*/*.cu solutions/*/*/*.cu; do
        lab=${source#solutions/}
        label=${lab%.cu}
        lab=${lab%%/*}
        head -1 "$source" | grep -qE '^// expect: (build|timeout)' ||
            echo "$label $lab $source"
    done
}

[ -x "$nvcc" ] || fail "there is no nvcc"
build_patterns & # 10 s with two architectures, beside all the others
patterns=$!
build_driver || fail "the driver does not build"
export -f build_kernel is_fresh
export nvcc work
all_flags=$(printf '%q ' "${flags[@]}")
list_kernels | xargs -P "$jobs" -L 1 bash -c "flags=($all_flags); build_kernel "'"$1" "$2" "$3"' -
wait $patterns || fail "the patterns do not build"
list_kernels | while read -r label lab source; do
    object=$work/$(echo "$label" | tr / .).so
    [ ! -e "$object" ] || echo "$label $lab $object"
done > "$work/objects"
