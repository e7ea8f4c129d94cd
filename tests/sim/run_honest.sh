#!/bin/bash
# run_honest.sh - nothing is told of a right kernel: all rungs of solutions/, and tests/honest/,
# under all checks, in three orders of blocks and warps.
#
#     tests/sim/run_honest.sh BUILD [FILE...]
. "$(dirname "$0")/prelude.sh"
begin honest "simulated honest kernels" "${1:?the build folder}"
shift
need_nvcc

# build FILE LAB PROGRAM
build_one()
{
    [ "$3" -nt "$1" ] && [ "$3" -nt "$root/tests/sim/honest.cu" ] ||
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 -w -I "$root/common" \
            -I "$root"/labs/"$2"_* -gencode arch=compute_80,code=compute_80 \
            -DKERNEL="\"$1\"" -DLAB="${2#0}" -DSCRATCH=4096 -o "$3" "$root/tests/sim/honest.cu"
}

[ $# = 0 ] &&
    set -- "$root"/solutions/*/[0-9]*.cu "$root"/solutions/*/beyond/*.cu "$root"/tests/honest/*.cu
for file; do
    name=$(echo "${file#"$root"/}" | tr / _)
    lab=$(echo "${file#"$root"/}" | grep -o '[0-9][0-9]' | head -1)
    [[ "$file" == */0_starter.cu ]] && continue
    if ! build_one "$file" "$lab" "$work/$name"; then
        failed=$((failed + 1))
        echo "$name: does not compile"
        continue
    fi
    for order in forward reverse random:11; do
        wrong=$(env -u SIM_REPORT -u SIM_QUIET -u SIM_CHECKS SIM_SCHED=$order \
            LD_PRELOAD="$library" timeout 120 "$work/$name" 2>&1) && [ -z "$wrong" ] && continue
        break
    done
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name ($order): $wrong" | head -6
    fi
done
finish clean not
