/* machine_code.h - the machine instructions of a kernel in a cubin, from sm_70 on: 128 bits each.
 *
 * The format is undocumented. Fields: bits 0 to 11 opcode, 12 to 14 guard predicate, 15 its
 * negation, 105 to 108 stall cycles, 109 yield, 110 to 112 and 113 to 115 the barriers that a write
 * and a read set, 116 to 121 the barriers that it waits for, 122 to 125 reuse of operands. Bits 0
 * to 8 name the operation, 9 to 11 the kinds of its operands. The cubin is not trusted.
 */
#ifndef SIM_BINARY_MACHINE_CODE_H
#define SIM_BINARY_MACHINE_CODE_H

#include "sim/binary/elf_reader.h"
#include "sim/binary/fatbin.h"

/* The unit that executes an operation. */
typedef enum MachinePipe {
    MACHINE_UNKNOWN, /* not in the table */
    MACHINE_FMA,
    MACHINE_ALU,
    MACHINE_UNIFORM, /* once per warp */
    MACHINE_FP64,
    MACHINE_FP16,
    MACHINE_SFU,
    MACHINE_TENSOR,
    MACHINE_LSU,
    MACHINE_CONTROL,
    MACHINE_PIPES
} MachinePipe;

/* bits 0 to 8 of the operations that this program must tell apart */
enum {
    MACHINE_P2R = 0x003,
    MACHINE_R2P = 0x004,
    MACHINE_IMAD_WIDE = 0x025,
    MACHINE_IMAD_HIGH = 0x027,
    MACHINE_ULDC = 0x0b9,
    MACHINE_FCHK = 0x102,
    MACHINE_MUFU = 0x108,
    MACHINE_NOP = 0x118,
    MACHINE_BAR = 0x11d,
    MACHINE_BSYNC = 0x141,
    MACHINE_BREAK = 0x142,
    MACHINE_CALL_ABSOLUTE = 0x143,
    MACHINE_CALL = 0x144,
    MACHINE_BSSY = 0x145,
    MACHINE_BRA = 0x147,
    MACHINE_WARPSYNC = 0x148,
    MACHINE_BRX = 0x149,
    MACHINE_JMP = 0x14a,
    MACHINE_JMX = 0x14c,
    MACHINE_EXIT = 0x14d,
    MACHINE_RET = 0x150,
    MACHINE_KILL = 0x15b,
    MACHINE_LDC = 0x182,
    MACHINE_LDL = 0x183,
    MACHINE_STL = 0x187,
    MACHINE_S2UR = 0x1c3,
    MACHINE_OPERATION_BITS = 0x1ff,
};

enum { MACHINE_SOURCES = 3, MACHINE_NO_REGISTER = 255 };
enum { MACHINE_NO_BARRIER = 7 };
enum { MACHINE_BYTES = 16, MACHINE_ALWAYS = 7, MOST_MACHINE_INSTRUCTIONS = 1 << 20 };

typedef struct MachineInstruction {
    int line;        /* of the PTX; 0: unknown */
    int target;      /* of a branch or call, and the BSYNC of a BSSY: index of an instruction; -1:
                      * none, or unknown */
    uint16_t opcode; /* bits 0 to 11 */
    uint8_t guard;   /* predicate; MACHINE_ALWAYS: none */
    bool guard_negated;
    bool is_conditional; /* a branch with a second condition, in a predicate or for the warp */
    bool if_diverged;    /* a branch that only a warp takes whose lanes are not together (BRA.DIV)
                          */
    uint8_t stall, write_barrier, read_barrier, wait, reuse;
    bool yield;
    uint8_t source[MACHINE_SOURCES]; /* registers that it reads, by operand, if it can read three;
                                      * MACHINE_NO_REGISTER: none */
    uint8_t stack_words; /* of LDL and STL: the words of 4 bytes that each lane accesses */
    uint32_t stack_word; /* the first one, from the register of the address on */
} MachineInstruction;

typedef struct MachineCode {
    int arch;
    MachineInstruction *instructions;
    int count;
} MachineCode;

/* "FFMA"; NULL: unknown. `operation`: the opcode's bits 0 to 8. */
const char *machine_name(int arch, unsigned opcode);
MachinePipe machine_pipe(int arch, unsigned opcode);

/* Decodes one instruction, at index `i`. Its line is 0. */
MachineInstruction machine_decode(int arch, const unsigned char bytes[MACHINE_BYTES], int i,
                                  int count);

/* The number of `source` registers that it reads from the register file. `before`: the instruction
 * that its warp has just issued, some of whose operands may be reused; NULL: another warp's. */
int machine_operands(const MachineInstruction *in, const MachineInstruction *before);

/* Reads a kernel of a cubin for architecture `arch`. Returns false if the kernel or its line table
 * is missing or malformed, or memory ran out. Free with machine_code_free. */
bool machine_code_read(const Elf *elf, int arch, const char *kernel, MachineCode *code);
void machine_code_free(MachineCode *code);

/* The cubin of exactly this architecture; NULL: there is none. */
const FatbinEntry *fatbin_cubin(const Fatbin *fatbin, int arch);

#endif
