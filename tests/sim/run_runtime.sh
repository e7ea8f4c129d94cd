#!/bin/bash
# run_runtime.sh - the simulated GPU as a library in a program: how it is loaded, unusual uses by a
# process, and `warpbook sim`. The programs are in runtime/.
#
#     tests/sim/run_runtime.sh BUILD      BUILD holds the libraries and warpbook
#
# For libraries built with -fsanitize=address, SANITIZER is the path of libasan.so, which must be loaded
# first. The cost of memory is not checked then.
. "$(dirname "$0")/prelude.sh"
begin runtime "simulated runtime" "${1:?the build folder}"
preload=${SANITIZER:+$SANITIZER:}$library
unset SIM_REPORT SIM_QUIET SIM_SCHED SIM_DEVICE SIM_DEVICES SIM_CHECKS SIM_BUDGET SIM_TABLE \
    SIM_TIME LD_PRELOAD

# The tests send signals to programs; no other process may receive them.
[ -z "${SANITIZER:-}" ] || export ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:verify_asan_link_order=0:allocator_may_return_null=1

cd "$work" || exit 1

# ---- Steps ----

wrong()
{
    failed=$((failed + 1))
    echo "runtime: $*"
}

# try LABEL STATUS STDOUT STDERR COMMAND...: STDOUT is the whole output, STDERR a part of the errors or
# empty if there must be none. * matches anything.
try()
{
    local label=$1 status=$2 out=$3 err=$4 got said
    shift 4
    { timeout -k 1 60 "$@" > out 2> err < /dev/null; } 2> /dev/null
    got=$?
    said=$(tr '\n' ' ' < err | tr -s ' ')
    if [ "$status" != '*' ] && [ "$got" != "$status" ]; then
        wrong "$label: status $got, not $status: $(head -c 300 out err | tr '\n' ' ')"
    elif [ "$out" != '*' ] && [ "$(cat out)" != "$out" ]; then
        wrong "$label: stdout: $(head -3 out)"
    elif [ "$err" != '*' ] && { [ -z "$err" ] && [ -n "$said" ] || ! grep -qF -- "$err" <<< "$said"; }; then
        wrong "$label: stderr: $(head -6 err)"
    else
        passed=$((passed + 1))
    fi
}

# holds LABEL COMMAND...: the command must succeed.
holds()
{
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        wrong "$1"
    fi
}

# in_report WORDS [FILE]: whether the header of the report contains the words.
in_report()
{
    head -1 "${2:-report}" 2> /dev/null | grep -qF -- "$1"
}

usual="-O3 -lineinfo -std=c++17 -gencode arch=compute_80,code=[sm_80,compute_80]"

# build PROGRAM SOURCE FLAGS...
build()
{
    [ "$work/$1" -nt "$2" ] || "$nvcc" $usual "${@:3}" -o "$work/$1" "$2" || wrong "$1 does not compile"
}

# ---- The three links and their exports ----

names()
{
    nm -D --defined-only "$1" | sed -n 's/.* [TWVBD] \(_*cuda[A-Za-z0-9_]*\).*/\1/p' | sort -u
}

exports()
{
    local real missing
    real=$(ls "$cuda"/{lib64,lib,targets/*/lib}/libcudart.so.13 2> /dev/null | head -1)
    local library
    for library in "$build/libcudart-sim.so" "$build"/sim/libcudart.so.{12,13}; do
        if [ -n "$real" ]; then
            missing=$(comm -23 <(names "$real") <(names "$library") | tr '\n' ' ')
            holds "$library lacks $missing" [ -z "$missing" ]
        fi
        # Names that only the libraries of CUDA 12 have, as listed in calls.sh.
        missing=$(comm -23 <(sed -n "/^only_12='/,/'$/p" "$root/grader/sim/runtime/calls.sh" |
            tr -c 'A-Za-z0-9_\n' '\n' | grep '^_*cuda' | sort -u) <(names "$library") | tr '\n' ' ')
        holds "$library lacks $missing" [ -z "$missing" ]
        # The library may export no symbols but CUDA's and its own: others could replace the program's functions.
        missing=$(nm -D --defined-only "$library" | awk '{ print $3 }' |
            grep -v -e '^_*cuda' -e '^cu[A-Z]' -e '^sim[A-Z]' -e '^libcudart' | tr '\n' ' ')
        holds "$library exports $missing" [ -z "$missing" ]
    done
}

links()
{
    local vectors=$here/programs/vector_add.cu
    build shared "$vectors" -cudart shared --no-compress
    build by_path "$vectors" -cudart none --no-compress -L"$build/sim" \
        -Xlinker -rpath,"$build/sim" -Xlinker -l:libcudart.so.13
    build threads "$here/runtime/threads.cu" -cudart shared --no-compress
    try "LD_PRELOAD" 0 ok '' env LD_PRELOAD="$preload" ./shared
    try "LD_LIBRARY_PATH" 0 ok '' env LD_LIBRARY_PATH="$build/sim" ./shared
    try "rpath" 0 ok '' ./by_path
    try "both" 0 ok '' env LD_PRELOAD="$preload" LD_LIBRARY_PATH="$build/sim" ./by_path
    try "warpbook sim" 0 ok '*' "$build/warpbook" sim ./shared
    if [ -e "$build/sim/libcudart.so.12" ]; then
        gcc -std=c11 -D_GNU_SOURCE -I"$root/tests" "$here/runtime/abi12.c" -o abi12 \
            -L"$build/sim" -l:libcudart.so.12
        try "ABI of CUDA 12" 0 ok '' env LD_LIBRARY_PATH="$build/sim" ./abi12
        try "ABI of CUDA 12 by warpbook sim" 0 ok 'triple' "$build/warpbook" sim ./abi12
    fi
}

# Programs with a runtime of their own, which nvcc links by default: with its own flags only; with code
# that the loader may not move; relocatable device code; a stream for each thread.
own_runtime()
{
    local vectors=$here/programs/vector_add.cu
    "$nvcc" -std=c++17 -o own "$vectors" || wrong "own does not compile"
    build own_fixed "$vectors" -Xcompiler -no-pie
    build own_linked "$here/runtime/linked.cu" -rdc=true "$here/runtime/linked_other.cu"
    build own_per_thread "$here/runtime/per_thread.cu" --default-stream per-thread
    strip -o stripped own
    try "own runtime" 0 ok '' env LD_PRELOAD="$preload" ./own
    try "own runtime by warpbook sim" 0 ok 'compile with -lineinfo' "$build/warpbook" sim ./own
    try "own runtime, fixed addresses" 0 ok '' env LD_PRELOAD="$preload" ./own_fixed
    try "own runtime, linked" 0 '*' '' env LD_PRELOAD="$preload" ./own_linked
    try "own runtime, per-thread default stream" 0 ok '' env LD_PRELOAD="$preload" ./own_per_thread
    try "own runtime, stripped" 3 '' 'cannot be replaced, since it was stripped' "$build/warpbook" sim ./stripped
    try "own runtime, stripped: what to do" 3 '' '-cudart shared' "$build/warpbook" sim ./stripped
    build own_static "$vectors" -Xcompiler -static -Xlinker -static
    try "linked statically as a whole" 3 '' 'Link it without -static' "$build/warpbook" sim ./own_static
    build own_asan "$vectors" -Xcompiler -fsanitize=address
    try "AddressSanitizer" 0 ok '*' env ASAN_OPTIONS=detect_leaks=0 "$build/warpbook" sim ./own_asan
    own_library
}

# A library with a runtime of its own may have used it before ours is there.
own_library()
{
    echo 'extern "C" int use_gpu(void) { return cudaFree(0); }' > own_library.cu
    echo 'int use_gpu(void); int main(void) { return use_gpu(); }' > uses_library.c
    build libown.so own_library.cu -Xcompiler -fPIC -shared
    gcc -o uses_library uses_library.c -L. -lown -Wl,-rpath,. || wrong "uses_library does not compile"
    try "own runtime in a library" '*' '*' 'libown.so contains a CUDA runtime that cannot be replaced' \
        env LD_PRELOAD="$preload" ./uses_library
    echo '#include <dlfcn.h>' > loads_library.c
    echo 'int main(void) { return ((int (*)(void)) dlsym(dlopen("./libown.so", RTLD_NOW), "use_gpu"))(); }' >> loads_library.c
    gcc -o loads_library loads_library.c -ldl || wrong "loads_library does not compile"
    try "own runtime in a library that is loaded later" '*' '*' \
        'libown.so contains a CUDA runtime that cannot be replaced once the program runs' "$build/warpbook" sim ./loads_library
}

# Without libzstd the message says what to do; LZ4 needs no library.
compressed()
{
    local vectors=$here/programs/vector_add.cu
    build zstd "$vectors" -cudart shared
    build size "$vectors" -cudart shared --compress-mode=size
    build lz4 "$vectors" -cudart shared --compress-mode=speed
    mkdir -p no_zstd
    echo "this is not a library" > no_zstd/libzstd.so.1
    if ldconfig -p | grep -q 'libzstd\.so\.1'; then
        try "zstd" 0 ok '' env LD_PRELOAD="$preload" ./zstd
        try "zstd, small" 0 ok '' env LD_PRELOAD="$preload" ./size
    fi
    try "zstd without libzstd" 1 '*' 'build with nvcc --no-compress, or install libzstd1' \
        env LD_PRELOAD="$preload" LD_LIBRARY_PATH="$work/no_zstd" ./zstd
    try "LZ4" 0 ok '' env LD_PRELOAD="$preload" LD_LIBRARY_PATH="$work/no_zstd" ./lz4
}

# A build folder may be moved: descriptions are found next to the library.
moved()
{
    rm -rf elsewhere
    mkdir -p elsewhere/sim
    cp -r "$library" "$build/devices" elsewhere
    cp "$build/sim/libcudart.so.13" elsewhere/sim
    sed -i 's/^name: .*/name: Moved GPU/' elsewhere/devices/teaching.txt
    rm -f report
    try "moved" 0 ok '' env LD_PRELOAD="${SANITIZER:+$SANITIZER:}$work/elsewhere/libcudart-sim.so" SIM_REPORT=report ./shared
    holds "moved: descriptions next to it" in_report '"name":"Moved GPU"'
    rm -f report
    try "moved, by name" 0 ok '' env LD_LIBRARY_PATH="$work/elsewhere/sim" SIM_REPORT=report ./shared
    holds "moved, by name: descriptions next to it" in_report '"name":"Moved GPU"'
}

# Relocatable device code: the PTX of several object files is linked by name.
linked()
{
    build linked "$here/runtime/linked.cu" -cudart shared --no-compress -rdc=true \
        "$here/runtime/linked_other.cu"
    try "linked" 0 "first 0
first 1
second
49 1052" '' env LD_PRELOAD="$preload" ./linked
    build endless_children "$here/runtime/endless_children.cu" -cudart shared --no-compress -rdc=true -lcudadevrt
    try "endless children" 0 cudaErrorLaunchTimeout 'this kernel and the 100 that followed from it' \
        env LD_PRELOAD="$preload" SIM_BUDGET=1000000 ./endless_children
}

# ---- Calls, limits and faults ----

runtime()
{
    local name
    for name in late pinned turns sticky calls sizes grids endless forks ends issued moves; do
        build $name "$here/runtime/$name.cu" -cudart shared --no-compress
    done
    build per_thread "$here/runtime/per_thread.cu" -cudart shared --no-compress \
        --default-stream per-thread
    export LD_PRELOAD=$preload
    try "pinned" 0 "as it should be" "" ./pinned
    try "turns" 0 "a buffer each: right
one for all: wrong" "" env SIM_CHECKS=races ./turns
    try "late" 0 ok '' ./late
    try "per-thread default stream" 0 ok '' ./per_thread
    for name in 1 2 3; do
        try "threads" 0 ok '' ./threads
    done
    try "sticky errors" 0 ok 'out of bounds: sticky.cu:' ./sticky
    try "calls" 0 ok 'the program calls cudaGraphicsUnregisterResource, which is not simulated' ./calls
    try "sizes" 0 ok 'out of bounds: 18446744073709551615 bytes of the destination' ./sizes
    try "sizes on an H200" 1 '*' '*' env SIM_DEVICE=h200 ./sizes
    try "grids" 0 ok 'in block 750000 of 9223090559730712575' env SIM_BUDGET=3000000 ./grids
    holds "grids: each reason is reported" grep -q 'a block of (0,1,1) has no threads' err
    try "endless" 0 ok 'is this an endless loop' env SIM_BUDGET=3000000 ./endless
    try "endless with a barrier" 0 ok 'is this an endless loop' \
        env SIM_BUDGET=3000000 ./endless barrier
    try "fork before the GPU is used" 0 ok '' ./forks before
    try "fork after" 0 ok 'this process was forked from one that had already used the GPU' ./forks
    sed 's/^issue_us:[^#]*/issue_us: 4 /; s/^event_us:[^#]*/event_us: 0.5 /; s/^follow_us:[^#]*/follow_us: 1.5 /; s/^graph_follow_us:[^#]*/graph_follow_us: 0.75 /' \
        "$build/devices/teaching.txt" > slow_host.txt
    try "the host's time per launch" 0 ok '' env SIM_TIME=1 SIM_DEVICE=./slow_host.txt ./issued
    cp "$build/devices/teaching.txt" moving.txt
    for figure in first_fault_us:0 page_fault_us:1000 page_chunk_us:100 page_copy_us:150 fresh_fault_us:500 fresh_chunk_us:70 prefetch_us:60 \
        prefetch_block_us:4 prefetch_fresh_us:5 prefetch_back_us:300; do
        sed -i "s/^${figure%:*}:[^#]*/${figure/:/: } /" moving.txt
    done
    try "managed memory moves" 0 ok '' env SIM_TIME=1 SIM_DEVICE=./moving.txt ./moves
    try "managed memory without time" 0 ok '' ./moves plain
    try "a prefetch is a copy in the timeline" 0 ok 'H2D' env SIM_TIME=1 SIM_TABLE=1 SIM_DEVICE=./moving.txt ./moves
    unset LD_PRELOAD
}

# The machine has less memory than an H200: this is reported, and the process survives. Touched memory
# costs at most twice its size, plus 64 MiB.
memory()
{
    local peak
    try "more than the machine has" 1 '*' 'the simulated GPU has enough, but this machine does not' \
        env LD_PRELOAD="$preload" SIM_DEVICE=h200 ./sizes touch 130000
    LD_PRELOAD="$preload" ./sizes touch 256 > out
    peak=$(cat out)
    holds "256 MiB take ${peak:-?} KiB" [ "${peak:-9999999}" -le $(((2 * 256 + 64) * 1024)) ]
    LD_PRELOAD="$preload" ./sizes touch 1 > out
    peak=$(cat out)
    holds "1 MiB takes ${peak:-?} KiB" [ "${peak:-9999999}" -le $((66 * 1024)) ]
}

# end_of HOW STATUS REPORT STDERR: REPORT is a part of the report's header; none: no report is written.
end_of()
{
    rm -f report
    try "ends: $1" "$2" '*' "$4" env LD_PRELOAD="$preload" SIM_REPORT=report \
        SIM_BUDGET="${5:-20000000}" ./ends "$1"
    if [ "$3" = none ]; then
        holds "ends: $1: no report" [ ! -e report ]
    else
        holds "ends: $1: report says $3, not $(head -c 900 report 2> /dev/null | head -1)" \
            in_report "$3"
    fi
}

ends()
{
    end_of "" 20 '"findings":0,"complete":true,"signal":0' ''
    end_of abort 134 '"findings":0,"complete":true,"signal":6' ''
    end_of device_pointer 139 '"findings":1,"complete":true,"signal":11' \
        "host code reads or writes the device address"
    end_of null 139 '"findings":0,"complete":true,"signal":11' ''
    end_of division 136 '"signal":8' ''
    end_of overflow 139 '"signal":11' ''
    end_of terminated 143 '"signal":15' ''
    end_of killed 137 none ''
    end_of own_handler 24 none ''
    end_of quick_exit 25 '"findings":1,"complete":true,"signal":0' 'leak'
    end_of atexit 26 '"findings":1' 'leak'
    end_of exit_in_callback 21 '"findings":1' 'leak'
    end_of fault_in_callback 139 '"findings":1,"complete":true,"signal":11' \
        "host code reads or writes the device address"
    end_of signal_in_callback 143 '"signal":15' ''
    end_of jump_out_of_callback 27 '"findings":1' 'leak'
    end_of in_kernel 1 '"kernels":2,"findings":1' 'is this an endless loop'
    end_of thread_in_kernel 23 none 'the program ended while one of its threads was in a kernel' 0
    end_of cancelled 22 '"findings":2' 'null pointer'
    end_of unfinished 20 '"findings":2' 'the program ended before 1 launch ran'
    # A signal during a kernel: the counts of earlier launches are in the report.
    rm -f report
    try "ends: terminated in a kernel" 143 '' 'while kernel endless ran' bash -c "
        LD_PRELOAD=$preload SIM_REPORT=report SIM_BUDGET=0 ./ends in_kernel &
        sleep 1; kill \$!; wait \$!"
    holds "ends: terminated in a kernel: report" in_report '"kernels":1,"findings":0,"complete":true,"signal":15'
}

# ---- warpbook sim ----

command_line()
{
    local sim="$build/warpbook sim" name
    try "sim --help" 0 '*' '' $sim --help
    for name in --device --list --report --checks --sched --budget --error-exitcode; do
        holds "sim --help explains $name" grep -q -- "$name" out
    done
    try "sim --list" 0 '*' '' $sim --list
    for name in "$root"/grader/sim/devices/*.txt; do
        holds "sim --list names $name" grep -q "^$(basename "$name" .txt) " out
    done
    try "unknown device" 2 '' 'there is no device `h201`; there are: a100 b200 h100 h200' \
        $sim --device h201 ./shared
    try "table" 20 '' 'fill 1 launch, grid 1, block 32' $sim ./ends
    try "report" 20 '' '*' $sim --device t4 --report report ./ends
    holds "report: of the device" in_report '"key":"t4"'
    try "signal" 139 '' 'Only kernels can access it; use cudaMemcpy' $sim ./ends device_pointer
    try "findings do not decide" 25 '' 'leak' $sim ./ends quick_exit
    try "no leaks" 25 '' 'occupancy' $sim --checks races,uninitialised ./ends quick_exit
    holds "no leaks: none reported" [ "$(grep -c leak err)" = 0 ]
    try "error exit code: nothing found" 0 ok '*' $sim --error-exitcode 9 ./shared
    try "error exit code: found" 9 ok 'out of bounds' $sim --error-exitcode 9 ./sticky
    try "error exit code: through a script" 9 ok '*' $sim --error-exitcode 9 sh -c './sticky; exit 0'
    try "error exit code: the program's own is kept" 25 '' '*' $sim --error-exitcode 9 ./ends quick_exit
    try "error exit code: a signal" 134 '' '*' $sim --error-exitcode 9 ./ends abort
    try "budget" 0 ok 'is this an endless loop' $sim --budget 100000 ./endless
    try "progress" 124 '*' 'of 1 blocks,' timeout 5 $sim --budget 0 ./ends in_kernel
}

# A program without machine code for the device gets it from ptxas, unless that is not wanted.
assembled()
{
    local sim="$build/warpbook sim --device h200 --report report"
    try "ptxas" 0 ok '*' $sim ./shared
    holds "ptxas: counted" grep -q '"machine_counts": *"counted"' report
    holds "ptxas: kept" [ -n "$(find "$build/ptxas" -name '*.cubin' 2> /dev/null)" ]
    try "without ptxas" 0 ok '*' env SIM_PTXAS= $sim ./shared
    holds "without ptxas: estimated" grep -q '"machine_counts": *"estimated"' report
}

# The environment variables accept the values that warpbook sim passes on, and reject others.
words()
{
    local setting
    export LD_PRELOAD=$preload
    for setting in SIM_CHECKS=all SIM_CHECKS=none SIM_CHECKS=races,leaks SIM_CHECKS=uninitialised \
        SIM_SCHED=forward SIM_SCHED=reverse SIM_SCHED=random:17 SIM_BUDGET=0 SIM_QUIET=1 SIM_QUIET=0 \
        SIM_TIME=0 SIM_TIME=1 SIM_TIME=all SIM_TABLE=0 SIM_PROGRESS=1 SIM_DEVICE=t4 SIM_DEVICES="$build/devices"; do
        try "$setting" 0 ok '' env "$setting" ./shared
    done
    for setting in SIM_CHECKS= SIM_CHECKS=race SIM_CHECKS=all,races SIM_CHECKS=races, SIM_SCHED=random \
        SIM_BUDGET=1e9 SIM_QUIET=yes SIM_TIME=2 SIM_TABLE=2 SIM_PROGRESS=x; do
        try "$setting" 0 ok 'it must be' env "$setting" ./shared
    done
    try "SIM_DEVICE=nothing" 1 '*' 'there is no device `nothing`; there are:' \
        env SIM_DEVICE=nothing ./shared
    unset LD_PRELOAD
}

exports
if [ -z "$nvcc" ]; then
    echo "simulated runtime: programs skipped, nvcc not found"
else
    links
    own_runtime
    compressed
    moved
    linked
    runtime
    [ -n "${SANITIZER:-}" ] || memory
    ends
    command_line
    assembled
    words
fi
finish
