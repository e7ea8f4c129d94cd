#!/bin/sh
# forward.sh - writes assembly for libcuda.so.1: each call of the driver jumps to the library that
# simulates it. forward.c fills in the addresses.
#
#     grader/sim/forward/forward.sh BUILD/libcudart-sim.so > BUILD/sim/forward.S
set -e
export LC_ALL=C

nm -D --defined-only "$1" | awk '$2 == "T" && $3 ~ /^cu[A-Z]/ { print $3 }' | sort -u | awk '
    { name[NR] = $1 }
    END {
        print ".text"
        for (i = 1; i <= NR; i++)
            printf ".globl %s\n.type %s, @function\n%s:\n\tendbr64\n\tjmp *forward_to+%d(%%rip)\n.size %s, . - %s\n",
                name[i], name[i], name[i], 8 * (i - 1), name[i], name[i]
        print ".section .rodata"
        print ".globl forward_names\n.hidden forward_names\nforward_names:"
        for (i = 1; i <= NR; i++)
            printf "\t.asciz \"%s\"\n", name[i]
        print "\t.asciz \"\""
        print ".bss\n.balign 8\n.globl forward_to\n.hidden forward_to\nforward_to:\n\t.zero " 8 * NR
        print ".section .note.GNU-stack, \"\", @progbits"
    }'
