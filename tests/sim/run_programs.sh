#!/bin/bash
# run_programs.sh - builds real programs with nvcc and runs them on the simulated GPU.
#
#     tests/sim/run_programs.sh BUILD [PROGRAM...]
#
# A program's head comment sets the expected stdout (expect: one line; unless NAME.expected exists), stderr
# (stderr: a part of it; stderr-any: anything; default: empty), exit status (status: default 0), the
# orders of blocks (schedules: default forward), the compute capability (architecture: default 80), and
# the device (device: default teaching), and libraries (libraries: cuda, cublas: ours; nvrtc: the toolkit's, without
# which the program is skipped; cudadevrt: kernels launch kernels), and further options (compiler: -G). Digest lines (programs/digest.h) are compared with those
# of a real GPU (outputs.expected, made by outputs.sh). BUILD holds the library.
. "$(dirname "$0")/prelude.sh"
begin programs "simulated programs" "${1:?the build folder}"
shift
need_nvcc
: > "$work/unasked"
nvrtc=$(ls "$(dirname "$nvcc")"/../lib64/libnvrtc.so 2> /dev/null || true)

# said WORD FILE: the text after the word in the program's head comment.
said()
{
    sed -n "s/^ \* $1: //p" "$2"
}

# flags_of LIBRARY: links it, so that it is also found when the program starts.
flags_of()
{
    case $1 in
        nvrtc) echo "-L$(dirname "$nvrtc") -lnvrtc -Xlinker -rpath=$(dirname "$nvrtc")" ;;
        cudadevrt) echo "-rdc=true -lcudadevrt" ;;
        cublas) echo "-L$build/sim -l:$(basename "$(ls "$build"/sim/libcublas.so.?? | tail -1)") -Xlinker -rpath=$build/sim" ;;
        *) echo "-L$build/sim -l:lib$1.so.1 -Xlinker -rpath=$build/sim" ;;
    esac
}

# Half of the programs contain a runtime of their own, as nvcc links it by default.
compile()
{
    local cc library libraries=() name
    name=$(basename "$2")
    [ $((${#name} % 2)) = 0 ] || libraries=(-cudart shared)
    cc=$(said architecture "$1")
    for library in $(said libraries "$1"); do
        read -ra flags <<< "$(flags_of "$library")"
        libraries+=("${flags[@]}")
    done
    [ "$2" -nt "$1" ] && [ "$2" -nt "$here/programs/check.h" ] &&
        [ "$2" -nt "$here/programs/digest.h" ] && [ "$2" -nt "$here/programs/check_driver.h" ] && return
    read -ra flags <<< "$(said compiler "$1")"
    rm -f "$2"
    "$nvcc" -O3 -lineinfo --no-compress -std=c++17 \
        -gencode "arch=compute_${cc:-80},code=[sm_${cc:-80},compute_${cc:-80}]" -o "$2" "$1" "${flags[@]}" "${libraries[@]}"
}

# digests NAME OUTPUT: prints the differences from the GPU's digests. The values of digest~ may have a
# relative difference of 1e-5, since both sides may be off by some units in the last place of a float
# (2^-24). Digests that have not been computed on a GPU yet are listed in $work/unasked.
digests()
{
    [ -e "$here/outputs.expected" ] || return 0
    awk -v program="$1" -v unasked="$work/unasked" '
        function near(a, b) { return a == b || (a - b)^2 <= (1e-5 * b)^2 }
        function same(got, want, n, g, w, i) {
            n = split(want, w, " ")
            if (split(got, g, " ") != n || g[1] != w[1]) return 0
            for (i = 2; i <= n; i++)
                if (g[1] == "digest" || i == 2 ? g[i] != w[i] : !near(g[i], w[i])) return 0
            return 1
        }
        FNR == NR { if ($1 == program) { sub(/^[^ ]+ /, ""); want[$2] = $0 } next }
        /^digest~? / { got[$2] = $0
            if (!($2 in want)) print program, $2 >> unasked
            else if (!same($0, want[$2])) print $2 ": differs from the result of a GPU" }
        END { for (name in want) if (!(name in got)) print name ": not printed" }
    ' "$here/outputs.expected" "$2"
}

# judge SOURCE PROGRAM ORDER: prints errors.
judge()
{
    local status wanted_status part device
    device=$(said device "$1")
    env -u SIM_REPORT -u SIM_QUIET SIM_SCHED="$3" SIM_DEVICE="${device:-teaching}" LD_PRELOAD="$library" timeout 60 "$2" > "$2.out" 2> "$2.err"
    status=$?
    wanted_status=$(said status "$1")
    part=$(said stderr "$1")
    [ "$status" = "${wanted_status:-0}" ] || echo "status $status"
    if [ -e "${1%.cu}.expected" ]; then
        diff "${1%.cu}.expected" "$2.out"
    elif [ "$(grep -v '^digest' "$2.out")" != "$(said expect "$1")" ]; then
        echo "stdout: $(grep -v '^digest' "$2.out" | head -3)"
    fi
    digests "$(basename "$2")" "$2.out"
    if [ -n "$part" ]; then
        tr '\n' ' ' < "$2.err" | tr -s ' ' | grep -qF -- "$part" || echo "stderr lacks: $part"
    elif [ -s "$2.err" ] && [ -z "$(said stderr-any "$1")" ]; then
        echo "stderr: $(head -3 "$2.err")"
    fi
}

# chosen PROGRAM...: the sources of these programs, or of all.
chosen()
{
    for source in "$here"/programs/*.cu; do
        [ -n "$nvrtc" ] || [[ " $(said libraries "$source") " != *" nvrtc "* ]] || continue
        [ $# = 0 ] || [[ " $* " == *" $(basename "$source" .cu) "* ]] && echo "$source"
    done
}

export here nvcc nvrtc build work
export -f said flags_of compile
chosen "$@" | xargs -P "$(nproc)" -I{} bash -c 'compile "$1" "$work/$(basename "$1" .cu)"' - {}
for source in $(chosen "$@"); do
    name=$(basename "$source" .cu)
    if [ ! -e "$work/$name" ]; then
        wrong="does not compile"
    else
        wrong=
        schedules=$(said schedules "$source")
        for order in ${schedules:-forward}; do
            fault=$(judge "$source" "$work/$name" "$order")
            wrong+=${fault:+$order: $fault}
        done
    fi
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: $wrong"
    fi
done
[ ! -s "$work/unasked" ] || echo "digests not yet computed on a GPU:" $(cat "$work/unasked")
finish
