/* sim_rig.h - runs one instruction of the simulated GPU over many operands, for the tests of its
 * arithmetic.
 *
 * An instruction is made from its opcode's text; its operands are planes of a small register file.
 * Every value is tried with the plain and the AVX2 functions, with full masks and with holes;
 * inactive lanes must stay unchanged. Finally, ptxas must accept all opcodes that were tried.
 */
#ifndef SIM_SIM_RIG_H
#define SIM_SIM_RIG_H

#include "sim/exec/ops/handlers.h"
#include "sim/ptx/roles.h"
#include "sim/sim_snippets.h"
#include "base/util.h" /* next_random */

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCES = 4, RIG_PLANES = 64, RIG_OPCODES = 4000 };

/* ---- Instructions from texts ---- */

static const char *const rig_ops[] = {
#define OP(name, ...)              #name,
#define OP2(enumerator, name, ...) name,
#include "sim/ptx/ops.def"
#include "rows.h"
#undef OP
#undef OP2
};

static const char *const rig_mods[] = {
#define MOD(name) #name,
    PTX_MODS(MOD)
#undef MOD
};

static const char *const rig_types[TYPES] = {
    "none", "pred", "b8",    "b16",  "b32",  "b64",    "b128",   "u8",    "u16",    "u32",
    "u64",  "s8",   "s16",   "s32",  "s64",  "f16",    "f16x2",  "bf16",  "bf16x2", "f32",
    "f64",  "tf32", "f32x2", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "u16x2", "s16x2",
};

static const char *const rig_spaces[] = {
    "generic", "param", "const", "global", "shared", "local"
};

static inline int rig_index(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], word))
            return i;
    return -1;
}

static inline void rig_part(Instruction *in, const char *part)
{
    int type = rig_index(rig_types, TYPES, part), mod = rig_index(rig_mods, MODS, part);
    int space = rig_index(rig_spaces, (int) COUNT(rig_spaces), part);

    if (type > 0) {
        in->types[in->type_count++] = (PtxType) type;
    } else if (space > 0) {
        in->space = (Space) space;
    } else {
        in->mods[in->mod_count++] = (uint8_t) (mod < 0 ? MOD_other : mod);
        in->to |= mod == MOD_to;
    }
}

/* `operands`: including destinations. */
static inline Instruction rig_instruction(const char *text, int operands)
{
    Instruction in = { .guard = -1, .vector = 1, .count = operands };
    char copy[100], *rest = copy;

    snprintf(copy, sizeof copy, "%s", text);
    int op = rig_index(rig_ops, OPS, strsep(&rest, "."));
    in.op = op < 0 ? OP_unknown : (Op) op;
    while (rest)
        rig_part(&in, strsep(&rest, "."));
    in.text = (Name){ text, (int) strlen(text) };
    return in;
}

/* ---- Running an instruction ---- */

typedef struct Rig {
    Warp warp;
    Code code;
    _Alignas(64) uint8_t registers[RIG_PLANES * PLANE];
    uint32_t predicates[8], carry;
    Instruction in;
    Step step;
    Count count;
    Roles roles;
    int bytes[1 + SOURCES]; /* sizes of destination and sources; -1: a predicate */
} Rig;

typedef uint64_t Values[SOURCES][LANES];

/* The plane of an operand: 0 for the destination, then 8 planes for each source. */
static inline int rig_place(int operand, int bytes)
{
    return bytes < 0 ? operand : 8 * operand;
}

static inline bool rig_open(Rig *rig, const char *text, int operands)
{
    memset(rig, 0, sizeof *rig);
    rig->in = rig_instruction(text, operands);
    rig->code.steps = &rig->step;
    rig->warp.code = &rig->code;
    rig->warp.counts = &rig->count;
    rig->warp.registers = rig->registers;
    rig->warp.predicates = rig->predicates;
    rig->warp.carry = &rig->carry;
    rig->warp.alive = rig->warp.active = ALL_LANES;
    rig->roles = roles_of(&rig->in);
    if (!rig->roles.known)
        return false;
    rig->step = (Step){ .in = &rig->in, .d = 0, .d2 = -1, .vector = 1 };
    int *const slots[] = { &rig->step.a, &rig->step.b, &rig->step.c, &rig->step.e };
    int from = rig->roles.destinations;
    rig->bytes[0] = role_bytes(&rig->in, rig->roles.role[0]);
    if (from == 2)
        rig->step.d2 = 7;
    for (int i = from; i < rig->roles.count; i++) {
        int bytes = rig->bytes[1 + i - from] = role_bytes(&rig->in, rig->roles.role[i]);
        *slots[i - from] = rig_place(1 + i - from, bytes);
    }
    return true;
}

static inline bool rig_bind(Rig *rig)
{
    return bind_compare(&rig->step, &rig->in) || bind_convert(&rig->step, &rig->in) ||
           bind_float(&rig->step, &rig->in) || bind_integer(&rig->step, &rig->in);
}

static inline void rig_put(Rig *rig, int operand, const uint64_t *values)
{
    int bytes = rig->bytes[operand];
    uint8_t *at = rig->registers + 8 * operand * PLANE;

    if (bytes < 0)
        rig->predicates[operand] = 0;
    for (int i = 0; i < LANES; i++)
        if (bytes < 0)
            rig->predicates[operand] |= (uint32_t) (values[i] & 1) << i;
        else
            memcpy(at + i * bytes, &values[i], bytes < 8 ? 4 : 8);
}

static inline uint64_t rig_get(const Rig *rig, int operand, int lane)
{
    int bytes = rig->bytes[operand];
    uint64_t value = 0;

    if (bytes < 0)
        return rig->predicates[operand] >> lane & 1;
    memcpy(&value, rig->registers + 8 * operand * PLANE + lane * bytes, bytes < 8 ? 4 : 8);
    return value;
}

/* ---- Opcodes that were tried ---- */

static char rig_tried[RIG_OPCODES][200];
static int rig_tried_count;

static const char *rig_register(int bytes, PtxType type, int number, char *text, size_t size)
{
    int width = bytes < 0 ? 0 : type_size(type) <= 2 && type != TYPE_PRED ? 2 : bytes;

    snprintf(text, size, "%%%s%d",
             width == 0   ? "p"
             : width == 2 ? "h"
             : width == 4 ? "r"
                          : "d",
             number);
    return text;
}

/* The result type. (cvt.pack states the type of its parts.) */
static inline PtxType rig_result(const Rig *rig)
{
    bool packs = memmem(rig->in.text.at, (size_t) rig->in.text.length, ".pack.", 6);

    return packs ? TYPE_B32 : role_type(&rig->in, rig->roles.role[0]);
}

/* Records the instruction as a line of PTX, with registers of the right width, and constants where
 * PTX requires them. */
static inline void rig_note(const Rig *rig)
{
    char line[200], name[16];
    size_t length =
        (size_t) snprintf(line, sizeof line, "%.*s ", rig->in.text.length, rig->in.text.at);

    for (int i = 0; i < rig->roles.count; i++) {
        char role = rig->roles.role[i];
        const char *between = !i ? "" : i < rig->roles.destinations ? "|" : ", ";
        PtxType type = i ? role_type(&rig->in, role) : rig_result(rig);
        rig_register(role_bytes(&rig->in, role), type, i, name, sizeof name);
        if (rig->in.op == OP_lop3 && i == 4)
            snprintf(name, sizeof name, "0x96");
        length += (size_t) snprintf(line + length, sizeof line - length, "%s%s", between, name);
    }
    for (int i = 0; i < rig_tried_count; i++)
        if (!strcmp(rig_tried[i], line))
            return;
    if (rig_tried_count < RIG_OPCODES)
        snprintf(rig_tried[rig_tried_count++], sizeof *rig_tried, "%s", line);
}

/* One kernel with all opcodes that were tried. */
static inline char *rig_kernel(void)
{
    static char text[RIG_OPCODES * sizeof *rig_tried];
    size_t length = (size_t) snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .pred %%p<9>;\n.reg .b16 %%h<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n");

    for (int i = 0; i < rig_tried_count; i++)
        length += (size_t) snprintf(text + length, sizeof text - length, "%s;\n", rig_tried[i]);
    snprintf(text + length, sizeof text - length, "ret;\n}\n");
    return text;
}

static inline void rig_ptxas(void)
{
    char ptx[64], command[300];

    snippet_keep(rig_kernel());
    CU_ASSERT(rig_tried_count > 0 && rig_tried_count < RIG_OPCODES);
    if (system("command -v ptxas >/dev/null")) {
        printf(" (skipped: no ptxas) ");
        return;
    }
    snprintf(ptx, sizeof ptx, "/tmp/sim_rig_%ld.ptx", (long) getpid());
    FILE *file = fopen(ptx, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(rig_kernel(), file);
    fclose(file);
    snprintf(command, sizeof command, "ptxas -O0 -arch=sm_90 -o /dev/null %s 2>&1 | head -20", ptx);
    FILE *said = popen(command, "r");
    CU_ASSERT_FATAL(said != NULL);
    char line[300];
    int errors = 0;
    while (fgets(line, sizeof line, said))
        if (strstr(line, "error") || strstr(line, "fatal"))
            errors += printf("%s", line) > 0;
    pclose(said);
    CU_ASSERT_EQUAL(errors, 0);
    unlink(ptx);
}

/* ---- Trying values ---- */

static const uint32_t rig_masks[] = { ALL_LANES,  0xaaaaaaaa, 0x80000001,
                                      0x00000010, 0x7fffffff, 0x0ff00ff0 };

/* An oracle returns the expected result of a lane; x: the sources. If it sets `any`, every result
 * is accepted. */
typedef uint64_t Oracle(const Instruction *in, const uint64_t *x, bool *any);

static inline uint64_t low_bits(uint64_t x, int bits)
{
    return bits >= 64 ? x : x & (((uint64_t) 1 << bits) - 1);
}

/* The number of bits of the destination that count. */
static inline int rig_bits(const Rig *rig)
{
    PtxType type = rig_result(rig);

    return rig->bytes[0] < 0 ? 1 : 8 * type_size(type);
}

static int rig_wrong; /* only the first few are printed in full */

static inline void rig_tell(const Rig *rig, const uint64_t *x, uint64_t got, uint64_t want)
{
    if (rig_wrong++ < 20)
        printf("\n    %.*s (simd %d) %llx %llx %llx %llx: got %llx, want %llx", rig->in.text.length,
               rig->in.text.at, simd_level, (unsigned long long) x[0], (unsigned long long) x[1],
               (unsigned long long) x[2], (unsigned long long) x[3], (unsigned long long) got,
               (unsigned long long) want);
}

/* Runs one warp. Returns false if a lane is wrong. */
static inline bool rig_run(Rig *rig, Values values, uint32_t mask, Oracle *oracle)
{
    const uint64_t before = 0xa5a5a5a5a5a5a5a5ull;
    uint64_t untouched[LANES];
    bool well = true;

    for (int i = 0; i < LANES; i++)
        untouched[i] = before;
    rig_put(rig, 0, untouched);
    for (int n = 0; n < rig->roles.count - rig->roles.destinations; n++)
        rig_put(rig, 1 + n, values[n]);
    rig->step.run(&rig->warp, &rig->step, mask);
    for (int i = 0; i < LANES; i++) {
        uint64_t x[SOURCES], got = rig_get(rig, 0, i), want;
        bool any = false;
        for (int n = 0; n < SOURCES; n++)
            x[n] = values[n][i];
        if (mask >> i & 1) {
            want = oracle(&rig->in, x, &any);
            got = any ? want : low_bits(got, rig_bits(rig));
        } else {
            want = rig->bytes[0] < 0 ? before & 1 : low_bits(before, rig->bytes[0] * 8);
        }
        want = mask >> i & 1 ? low_bits(want, rig_bits(rig)) : want;
        if (got != want) {
            rig_tell(rig, x, got, want);
            well = false;
        }
    }
    return well;
}

/* Tries all pairs of edge values as a and b, with different values as c and e, then `random`
 * mixtures.
 */
static inline bool rig_try_values(Rig *rig, const uint64_t *edges, size_t count, int random,
                                  Oracle *oracle)
{
    static Values values;
    uint64_t state = 1;
    bool one_source = rig->roles.count - rig->roles.destinations == 1;
    size_t grid = one_source ? count : count * count, columns = one_source ? 1 : count;
    size_t total = grid + (size_t) random, lane = 0, runs = 0;
    bool well = true;

    for (size_t n = 0; n < total; n++) {
        for (size_t s = 0; s < SOURCES; s++) {
            uint64_t r = next_random(&state);
            size_t edge = s == 0   ? n / columns
                          : s == 1 ? n % count
                                   : (n * (s + 3) + n / count) % count;
            values[s][lane] = n < grid ? edges[edge]
                              : r & 7  ? next_random(&state) >> (r >> 8 & 31)
                                       : edges[(r >> 16) % count];
        }
        if (++lane < LANES && n + 1 < total)
            continue;
        lane = 0;
        for (size_t m = 0; m < COUNT(rig_masks); m++)
            if (!m || (runs + m) % 7 == 0 || runs < 2)
                well &= rig_run(rig, values, rig_masks[m], oracle);
        runs++;
    }
    return well;
}

static inline bool rig_try(const char *text, int operands, const uint64_t *edges, size_t count,
                           int random, Oracle *oracle)
{
    bool well = true;

    for (int level = 0; level <= cpu_simd_level(); level++) {
        Rig rig;
        simd_level = level;
        if (!rig_open(&rig, text, operands) || !rig_bind(&rig)) {
            printf("\n    %s is not bound", text);
            return false;
        }
        rig_note(&rig);
        well &= rig_try_values(&rig, edges, count, random, oracle);
    }
    simd_level = -1;
    return well;
}

#endif
