/* machine_code.c - decodes machine instructions. The names are those of NVIDIA's CUDA Binary
 * Utilities; opcode numbers and fields are as ptxas 13.0 writes them. */
#include "sim/binary/machine_code.h"
#include "sim/binary/line_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- Operations ---- */

typedef struct MachineRow {
    uint16_t operation;
    const char *name;
    MachinePipe pipe;
} MachineRow;

static const MachineRow rows[] = {
#define MACHINE(operation, name, pipe) { operation, name, MACHINE_##pipe },
#include "sim/binary/machine.def"
#undef MACHINE
};

/* Some numbers were given to new operations with sm_90. */
static const MachineRow new_rows[] = {
    { 0x036, "VIADD", MACHINE_ALU },
    { 0x046, "VIADDMNMX", MACHINE_ALU },
    { 0x048, "VIMNMX", MACHINE_ALU },
};

static const MachineRow *find_row(int arch, unsigned opcode)
{
    const unsigned operation = opcode & MACHINE_OPERATION_BITS;

    for (size_t i = 0; arch >= 90 && i < sizeof new_rows / sizeof *new_rows; i++)
        if (new_rows[i].operation == operation)
            return &new_rows[i];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].operation == operation)
            return &rows[i];
    return NULL;
}

const char *machine_name(int arch, unsigned opcode)
{
    const MachineRow *row = find_row(arch, opcode);

    return row ? row->name : NULL;
}

MachinePipe machine_pipe(int arch, unsigned opcode)
{
    const MachineRow *row = find_row(arch, opcode);

    return row ? row->pipe : MACHINE_UNKNOWN;
}

/* ---- Fields ---- */

/* Bits first .. first + count - 1; count < 64. */
static uint64_t field(const unsigned char *bytes, int first, int count)
{
    uint64_t value = 0;

    for (int i = count - 1; i >= 0; i--)
        value = value << 1 | (bytes[(first + i) / 8] >> (first + i) % 8 & 1);
    return value;
}

static int64_t signed_field(uint64_t value, int bits)
{
    return (int64_t) (value << (64 - bits)) >> (64 - bits);
}

/* In units of 4 bytes from the next instruction. From sm_90 on the low 8 bits are elsewhere. BSSY
 * has 30 bits, and counts from itself. */
static int64_t distance(int arch, const unsigned char *bytes)
{
    uint64_t value = field(bytes, 34, 48);

    if (field(bytes, 0, 9) == MACHINE_BSSY)
        return signed_field(field(bytes, 34, 30), 30) - MACHINE_BYTES / 4;
    if (arch < 90)
        return signed_field(value, 48);
    return signed_field(value << 8 | field(bytes, 16, 8), 56);
}

static int target_of(int arch, const unsigned char *bytes, int i, int count)
{
    const int64_t units = distance(arch, bytes), per_instruction = MACHINE_BYTES / 4;

    if (units % per_instruction)
        return -1;
    const int64_t target = i + 1 + units / per_instruction;
    return target >= 0 && target < count ? (int) target : -1;
}

/* A call may get its target from a register. */
static bool has_target(unsigned opcode)
{
    const unsigned operation = opcode & MACHINE_OPERATION_BITS;

    return operation == MACHINE_BRA || operation == MACHINE_BSSY || opcode == 0x944;
}

/* BRA reads a second predicate, for each lane or, as BRA.U (0x547), for the warp. */
static bool is_conditional(unsigned opcode, const unsigned char *bytes)
{
    const unsigned always = MACHINE_ALWAYS;

    if ((opcode & MACHINE_OPERATION_BITS) != MACHINE_BRA)
        return false;
    if (opcode != 0x947 && field(bytes, 24, 3) != always)
        return true;
    return field(bytes, 87, 3) != always;
}

/* LDL and STL: bits 40 to 63 are an offset in bytes, bits 73 to 75 the size: 4 for one word, 5 for
 * two, 6 for four, less for a part of one. */
static void decode_stack(const unsigned char *bytes, MachineInstruction *in)
{
    const unsigned operation = in->opcode & MACHINE_OPERATION_BITS;
    const int64_t offset = signed_field(field(bytes, 40, 24), 24);
    const uint64_t size = field(bytes, 73, 3);

    if (operation != MACHINE_LDL && operation != MACHINE_STL)
        return;
    in->stack_words = (uint8_t) (size == 6 ? 4 : size == 5 ? 2 : 1);
    in->stack_word = offset > 0 ? (uint32_t) offset / 4 : 0;
}

/* ---- Registers ---- */

/* Operations that can read three registers: FFMA, IMAD, IADD3, LEA, LOP3, PRMT, SHF, HFMA2,
 * HFMA2.MMA; and DFMA, of 64 bits. */
static bool has_three_sources(unsigned operation)
{
    static const uint16_t list[] = { 0x023, 0x024, 0x010, 0x011, 0x012,
                                     0x016, 0x019, 0x031, 0x035, 0x02b };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == operation)
            return true;
    return false;
}

/* The first operand is in bits 24 to 31. In form 1 the others are in bits 32 to 39 and 64 to 71. In
 * other forms one of them is no register: the third in forms 2 and 3, else the second. */
static void decode_sources(const unsigned char *bytes, MachineInstruction *in)
{
    const unsigned form = (unsigned) in->opcode >> 9;
    const uint8_t far = (uint8_t) field(bytes, 64, 8);

    memset(in->source, MACHINE_NO_REGISTER, sizeof in->source);
    if (!has_three_sources(in->opcode & MACHINE_OPERATION_BITS))
        return;
    in->source[0] = (uint8_t) field(bytes, 24, 8);
    if (form == 1)
        in->source[1] = (uint8_t) field(bytes, 32, 8);
    in->source[form == 2 || form == 3 ? 1 : 2] = far;
}

static bool is_reused(const MachineInstruction *in, const MachineInstruction *before, int i)
{
    return before && before->reuse >> i & 1 && before->source[i] == in->source[i];
}

int machine_operands(const MachineInstruction *in, const MachineInstruction *before)
{
    int count = 0;

    for (int i = 0; i < MACHINE_SOURCES; i++) {
        bool is_new = in->source[i] != MACHINE_NO_REGISTER && !is_reused(in, before, i);
        for (int k = 0; k < i; k++)
            is_new &= in->source[k] != in->source[i];
        count += is_new;
    }
    return count;
}

/* ---- An instruction ---- */

MachineInstruction machine_decode(int arch, const unsigned char bytes[MACHINE_BYTES], int i,
                                  int count)
{
    const unsigned opcode = (unsigned) field(bytes, 0, 12);
    MachineInstruction in = { .target = -1,
                              .opcode = (uint16_t) opcode,
                              .guard = (uint8_t) field(bytes, 12, 3),
                              .guard_negated = field(bytes, 15, 1),
                              .stall = (uint8_t) field(bytes, 105, 4),
                              .yield = field(bytes, 109, 1),
                              .write_barrier = (uint8_t) field(bytes, 110, 3),
                              .read_barrier = (uint8_t) field(bytes, 113, 3),
                              .wait = (uint8_t) field(bytes, 116, 6),
                              .reuse = (uint8_t) field(bytes, 122, 4) };

    if (has_target(opcode))
        in.target = target_of(arch, bytes, i, count);
    in.is_conditional = is_conditional(opcode, bytes);
    in.if_diverged = (opcode & MACHINE_OPERATION_BITS) == MACHINE_BRA && field(bytes, 32, 2) == 2;
    decode_stack(bytes, &in);
    decode_sources(bytes, &in);
    return in;
}

/* ---- A kernel ---- */

const FatbinEntry *fatbin_cubin(const Fatbin *fatbin, int arch)
{
    for (int i = 0; i < fatbin->count; i++)
        if (fatbin->entries[i].kind == FATBIN_ELF && fatbin->entries[i].arch == arch)
            return &fatbin->entries[i];
    return NULL;
}

static bool add_lines(const Elf *elf, uint32_t text, MachineCode *code)
{
    int *lines = malloc((size_t) code->count * sizeof *lines);
    const bool fine = lines && line_table_read(elf, text, MACHINE_BYTES, lines, code->count);

    for (int i = 0; fine && i < code->count; i++)
        code->instructions[i].line = lines[i];
    free(lines);
    return fine;
}

bool machine_code_read(const Elf *elf, int arch, const char *kernel, MachineCode *code)
{
    ElfSection text;
    uint32_t number;

    *code = (MachineCode){ .arch = arch };
    if (!elf_kernel_text(elf, kernel, &number, &text) || text.size < MACHINE_BYTES ||
        text.size / MACHINE_BYTES > MOST_MACHINE_INSTRUCTIONS)
        return false;
    code->count = (int) (text.size / MACHINE_BYTES);
    code->instructions = calloc((size_t) code->count, sizeof *code->instructions);
    if (!code->instructions)
        return false;
    for (int i = 0; i < code->count; i++)
        code->instructions[i] =
            machine_decode(arch, text.bytes + (size_t) i * MACHINE_BYTES, i, code->count);
    if (add_lines(elf, number, code))
        return true;
    machine_code_free(code);
    return false;
}

void machine_code_free(MachineCode *code)
{
    free(code->instructions);
    *code = (MachineCode){ 0 };
}
