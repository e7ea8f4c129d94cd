/* test_sim_moves.c - loads, stores and atomics of every space, type and width, from PTX text,
 * compared with C code on the same bytes; and instructions that only have to be accepted.
 *
 * Each kernel is one snippet: each lane writes its own 32 bytes with one instruction, reads them
 * with another, and stores the registers as 64 bits.
 */
#include "rows.h"
#include "sim/exec/ops/handlers.h"
#include "sim/sim_launch.h"
#include "base/util.h"

enum { FIRST_WORD = 4096, LANE_BYTES = 32, MOST_ELEMENTS = 4 };

typedef struct MemoryType {
    const char *name;
    int bytes;
    bool is_signed;
} MemoryType;

static const MemoryType types[] = {
    { "b8", 1, false },  { "u8", 1, false },  { "s8", 1, true },   { "b16", 2, false },
    { "u16", 2, false }, { "s16", 2, true },  { "b32", 4, false }, { "u32", 4, false },
    { "s32", 4, true },  { "f32", 4, false }, { "b64", 8, false }, { "u64", 8, false },
    { "s64", 8, true },  { "f64", 8, false },
};

/* The space of a lane's bytes as a suffix of ld and st, and code that sets %rd20 to their address.
 */
static const struct {
    const char *suffix, *address;
} places[] = {
    { ".global", "mad.wide.u32 %rd20, %r1, 32, %rd1;\nadd.s64 %rd20, %rd20, 16384;\n" },
    { "", "mad.wide.u32 %rd20, %r1, 32, %rd1;\nadd.s64 %rd20, %rd20, 16384;\n" },
    { ".shared", "mov.u64 %rd21, sh;\nmad.wide.u32 %rd20, %r1, 32, %rd21;\n" },
    { "", "mov.u64 %rd21, sh;\ncvta.shared.u64 %rd21, %rd21;\n"
          "mad.wide.u32 %rd20, %r1, 32, %rd21;\n" },
    { ".local", "mov.u64 %rd20, lo;\n" },
    { "", "mov.u64 %rd20, lo;\ncvta.local.u64 %rd20, %rd20;\n" },
};

/* The value of a lane's element n: %rd(4 + n). */
static uint64_t value_of(uint32_t lane, int n)
{
    return (uint64_t) (lane * 8 + (uint32_t) n + 3) * 0x9e3779b97f4a7c15ull;
}

#define MEMORY_HEAD                                                                                \
    HEAD ".global .align 16 .b8 gv[64];\n.const .align 16 .b8 cv[64];\n" BEGIN                     \
         ".shared .align 16 .b8 sh[1024];\n.local .align 16 .b8 lo[32];\n"

static void add_values(char *ptx, size_t size, int count)
{
    for (int n = 0; n < count; n++)
        append(ptx, size,
               "mad.lo.s32 %%r7, %%r1, 8, %d;\ncvt.u64.u32 %%rd%d, %%r7;\n"
               "mul.lo.s64 %%rd%d, %%rd%d, -7046029254386353131;\n",
               n + 3, 4 + n, 4 + n, 4 + n);
}

/* %rd4 or {%rd4, %rd5}, with `kind` rs, r or rd. */
static void add_registers(char *ptx, size_t size, const char *kind, int from, int count)
{
    append(ptx, size, count > 1 ? "{" : "");
    for (int n = 0; n < count; n++)
        append(ptx, size, "%s%%%s%d", n ? ", " : "", kind, from + n);
    append(ptx, size, count > 1 ? "}" : "");
}

/* The contents of a register of `width` bytes after a value was written and read as the type. */
static uint64_t read_back(const MemoryType *type, int width, uint64_t value)
{
    int shift = 64 - 8 * type->bytes, above = 64 - 8 * width;
    uint64_t read = type->is_signed ? (uint64_t) ((int64_t) (value << shift) >> shift)
                                    : value << shift >> shift;

    return read << above >> above;
}

static bool check_lanes(const Trial *trial, const MemoryType *type, int width, int count)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        for (int n = 0; n < count; n++) {
            uint64_t got;
            memcpy(&got, trial->out + (lane * MOST_ELEMENTS + (uint32_t) n) * 2, 8);
            if (got != read_back(type, width, value_of(lane, n)))
                return false;
        }
    return true;
}

static bool run_snippet(const char *ptx, const MemoryType *type, int width, int count)
{
    Trial trial = { .ptx = ptx };
    bool read = trial_run(&trial);
    bool well = read && trial.well && !finding_count() && check_lanes(&trial, type, width, count);

    if (!well) {
        show_findings(type->name);
        printf("\n%s\n", ptx);
    }
    trial_close(&trial);
    return well;
}

/* `width`: of the registers, which may exceed that of the type. */
static void one_round_trip(size_t place, const MemoryType *type, int width, int count)
{
    static const char *const vectors[] = { [1] = "", [2] = ".v2", [4] = ".v4" };
    const char *kind = width == 2 ? "rs" : width == 4 ? "r" : "rd";
    int first = width == 2 ? 0 : width == 4 ? 20 : 10, narrow = width == 8 ? 4 : first;
    char ptx[6000] = MEMORY_HEAD;

    append(ptx, sizeof ptx, "%s", places[place].address);
    add_values(ptx, sizeof ptx, count);
    for (int n = 0; n < count && width < 8; n++)
        append(ptx, sizeof ptx, "cvt.u%d.u64 %%%s%d, %%rd%d;\n", 8 * width, kind, first + n, 4 + n);
    append(ptx, sizeof ptx, "st%s%s.%s [%%rd20], ", places[place].suffix, vectors[count],
           type->name);
    add_registers(ptx, sizeof ptx, kind, narrow, count);
    append(ptx, sizeof ptx, ";\nld%s%s.%s ", places[place].suffix, vectors[count], type->name);
    add_registers(ptx, sizeof ptx, kind, first, count);
    append(ptx, sizeof ptx, ", [%%rd20];\nmad.wide.u32 %%rd24, %%r1, 32, %%rd1;\n");
    for (int n = 0; n < count; n++) {
        if (width < 8)
            append(ptx, sizeof ptx, "cvt.u64.u%d %%rd%d, %%%s%d;\n", 8 * width, 10 + n, kind,
                   first + n);
        append(ptx, sizeof ptx, "st.global.u64 [%%rd24+%d], %%rd%d;\n", 8 * n, 10 + n);
    }
    append(ptx, sizeof ptx, "ret;\n}\n");
    CU_ASSERT(run_snippet(ptx, type, width, count));
}

static void round_trips(void)
{
    for (size_t place = 0; place < COUNT(places); place++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (int width = types[t].bytes < 2 ? 2 : types[t].bytes; width <= 8; width *= 2) {
                if (types[t].name[0] == 'f' && width > types[t].bytes)
                    break;
                for (int count = 1; count <= 4 && count * types[t].bytes <= 16; count *= 2)
                    one_round_trip(place, &types[t], width, count);
            }
}

/* ---- Consecutive elements, one per lane: the same step again and again ---- */

enum { ROUNDS = 3 };

static void add_rounds(char *ptx, size_t size, const MemoryType *type)
{
    add_values(ptx, size, 1);
    append(ptx, size,
           "mad.wide.u32 %%rd20, %%r1, 8, %%rd1;\nst.global.u64 [%%rd20+16384], %%rd4;\n"
           "bar.warp.sync -1;\nmad.wide.u32 %%rd20, %%r1, %d, %%rd1;\n"
           "mad.wide.u32 %%rd24, %%r1, 4, %%rd1;\nmov.u32 %%r22, 0;\n"
           "AGAIN:\nld.global.%s %%r21, [%%rd20+16384];\nst.global.u32 [%%rd24], %%r21;\n"
           "add.s64 %%rd20, %%rd20, %d;\nadd.s64 %%rd24, %%rd24, 128;\n"
           "add.s32 %%r22, %%r22, 1;\nsetp.lt.s32 %%p1, %%r22, %d;\n@%%p1 bra AGAIN;\nret;\n}\n",
           type->bytes, type->name, 32 * type->bytes, ROUNDS);
}

static bool are_rounds(const Trial *trial, const MemoryType *type)
{
    uint64_t values[32], value = 0;

    for (uint32_t lane = 0; lane < 32; lane++)
        values[lane] = value_of(lane, 0);
    for (int i = 0; i < 32 * ROUNDS; i++) {
        memcpy(&value, (const char *) values + i * type->bytes, (size_t) type->bytes);
        if (trial->out[i] != read_back(type, 4, value))
            return false;
    }
    return true;
}

/* With vectors of all widths. */
static void consecutive_elements(void)
{
    for (int level = 0; level <= cpu_simd_level(); level++)
        for (size_t t = 0; t < COUNT(types) && types[t].bytes <= 2; t++) {
            char ptx[6000] = MEMORY_HEAD;
            Trial trial = { .ptx = ptx };
            simd_level = level;
            add_rounds(ptx, sizeof ptx, &types[t]);
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            CU_ASSERT(trial.well && !finding_count() && are_rounds(&trial, &types[t]));
            trial_close(&trial);
        }
    simd_level = -1;
}

/* ---- Atomics: each lane on its own word, then all lanes on one word ---- */

typedef uint64_t Change(const char *type, uint64_t old, uint64_t b, uint64_t c);

static double as_real(const char *type, uint64_t bits)
{
    uint32_t low = (uint32_t) bits;
    float narrow;
    double wide;

    memcpy(&narrow, &low, 4);
    memcpy(&wide, &bits, 8);
    return !strcmp(type, "f32") ? (double) narrow : wide;
}

static uint64_t real_bits(const char *type, double value)
{
    float narrow = (float) value;
    uint32_t low;
    uint64_t bits;

    memcpy(&low, &narrow, 4);
    memcpy(&bits, &value, 8);
    return !strcmp(type, "f32") ? low : bits;
}

static uint64_t change_add(const char *type, uint64_t old, uint64_t b, uint64_t c)
{
    (void) c;
    return type[0] == 'f' ? real_bits(type, as_real(type, old) + as_real(type, b)) : old + b;
}

static bool is_less(const char *type, uint64_t a, uint64_t b)
{
    if (!strcmp(type, "s32"))
        return (int32_t) a < (int32_t) b;
    return type[0] == 's' ? (int64_t) a < (int64_t) b : a < b;
}

#define CHANGE(name, expression)                                                                   \
    static uint64_t change_##name(const char *type, uint64_t old, uint64_t b, uint64_t c)          \
    {                                                                                              \
        (void) type, (void) old, (void) b, (void) c;                                               \
        return expression;                                                                         \
    }
CHANGE(min, is_less(type, b, old) ? b : old)
CHANGE(max, is_less(type, old, b) ? b : old)
CHANGE(and, old &b)
CHANGE(or, old | b)
CHANGE(xor, old ^ b)
CHANGE(exch, b)
CHANGE(cas, old == b ? c : old)
CHANGE(inc, old >= b ? 0 : old + 1)
CHANGE(dec, !old || old > b ? b : old - 1)

static const struct {
    const char *name, *types;
    Change *change;
} changes[] = {
    { "add", "u32 s32 u64 f32 f64", change_add },
    { "min", "u32 s32 u64 s64", change_min },
    { "max", "u32 s32 u64 s64", change_max },
    { "and", "b32 b64", change_and },
    { "or", "b32 b64", change_or },
    { "xor", "b32 b64", change_xor },
    { "exch", "b32 b64", change_exch },
    { "cas", "b16 b32 b64", change_cas },
    { "inc", "u32", change_inc },
    { "dec", "u32", change_dec },
};

static int type_bytes(const char *type)
{
    return atoi(type + 1) / 8;
}

/* Old values and operands: small numbers, so that every operation has an effect and floating-point
 * results are exact. */
static uint64_t start_value(const char *type, uint32_t lane)
{
    return type[0] == 'f' ? real_bits(type, (double) lane - 7) : (lane * 5 + 1) % 40;
}

static uint64_t operand_value(const char *type, uint32_t lane)
{
    return type[0] == 'f' ? real_bits(type, lane / 4.0) : (lane * 11 + 1) % 40;
}

/* Four arrays in global memory: words, operands, others, and the results of atom; 8 bytes per lane.
 */
static void add_atomic(char *ptx, size_t size, const char *opcode, const char *type, bool shared,
                       bool returns, bool cas)
{
    int bytes = type_bytes(type);
    const char *kind = bytes == 2 ? "rs" : bytes == 4 ? "r" : "rd";
    int a = bytes == 2 ? 1 : bytes == 4 ? 20 : 10;

    append(ptx, size,
           "mad.wide.u32 %%rd20, %%r1, 8, %%rd1;\n"
           "ld.global.b%d %%%s%d, [%%rd20+256];\nld.global.b%d %%%s%d, [%%rd20+512];\n",
           8 * bytes, kind, a, 8 * bytes, kind, a + 1);
    if (shared)
        append(ptx, size,
               "mov.u64 %%rd21, sh;\nmad.wide.u32 %%rd22, %%r1, 8, %%rd21;\n"
               "ld.global.b64 %%rd23, [%%rd20];\nst.shared.b64 [%%rd22], %%rd23;\n");
    else
        append(ptx, size, "mov.b64 %%rd22, %%rd20;\n");
    append(ptx, size, "%s ", opcode);
    if (returns)
        append(ptx, size, "%%%s%d, ", kind, a + 2);
    append(ptx, size, "[%%rd22], %%%s%d", kind, a);
    if (cas)
        append(ptx, size, ", %%%s%d", kind, a + 1);
    append(ptx, size, ";\n");
    if (returns)
        append(ptx, size, "st.global.b%d [%%rd20+768], %%%s%d;\n", 8 * bytes, kind, a + 2);
    if (shared)
        append(ptx, size, "ld.shared.b64 %%rd23, [%%rd22];\nst.global.b64 [%%rd20], %%rd23;\n");
    append(ptx, size, "ret;\n}\n");
}

/* trial_run() fills the array with zeros, so the kernel begins by writing the initial values. */
static void add_fill(char *ptx, size_t size, const char *type)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        for (int array = 0; array < 3; array++) {
            uint64_t value = array == 0   ? start_value(type, lane)
                             : array == 1 ? operand_value(type, lane)
                                          : value_of(lane, 0) >> 40;
            append(ptx, size, "mov.b64 %%rd23, %llu;\nst.global.b64 [%%rd1+%u], %%rd23;\n",
                   (unsigned long long) value, (unsigned) array * 256 + lane * 8);
        }
}

static void one_atomic(size_t row, const char *type, const char *space, bool returns)
{
    static char ptx[40000];
    char opcode[64];
    int bits = 8 * type_bytes(type);
    bool cas = changes[row].change == change_cas, well = true;
    Trial trial = { .ptx = ptx };

    snprintf(opcode, sizeof opcode, "%s%s.%s.%s", returns ? "atom" : "red", space,
             changes[row].name, type);
    snprintf(ptx, sizeof ptx, "%s", MEMORY_HEAD "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra FILLED;\n");
    add_fill(ptx, sizeof ptx, type);
    append(ptx, sizeof ptx, "FILLED:\nbar.warp.sync -1;\n");
    add_atomic(ptx, sizeof ptx, opcode, type, !strcmp(space, ".shared"), returns, cas);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t old = start_value(type, lane), b = operand_value(type, lane), now, gave;
        uint64_t low = bits == 64 ? ~0ull : (1ull << bits) - 1;
        uint64_t want =
            changes[row].change(type, old & low, b & low, value_of(lane, 0) >> 40 & low);
        memcpy(&now, trial.out + lane * 2, 8);
        memcpy(&gave, trial.out + 192 + lane * 2, 8);
        well &= (now & low) == (want & low) && (!returns || (gave & low) == (old & low));
    }
    CU_ASSERT(well && trial.well && !finding_count());
    if (!well || finding_count()) {
        printf("\n    %s\n", opcode);
        show_findings(opcode);
    }
    trial_close(&trial);
}

static void atomics(void)
{
    static const char *const spaces[] = { "", ".global", ".shared" };

    for (size_t row = 0; row < COUNT(changes); row++) {
        char copy[100], *rest = copy, *type;
        snprintf(copy, sizeof copy, "%s", changes[row].types);
        while ((type = strsep(&rest, " ")))
            for (size_t s = 0; s < COUNT(spaces); s++) {
                one_atomic(row, type, spaces[s], true);
                if (changes[row].change != change_cas && changes[row].change != change_exch)
                    one_atomic(row, type, spaces[s], false);
            }
    }
}

/* f16 and bf16 in all four forms; all lanes add 1.5 and 2.25 to one word. */
static void atomics_of_halves(void)
{
    static const struct {
        const char *opcode;
        uint32_t start, operand, sum;
        bool is_pair;
    } rows[] = {
        { "add.noftz.f16", 0x3c00, 0x3e00, 0x5220, false },              /* 1 + 32 * 1.5 = 49 */
        { "add.noftz.f16x2", 0x3c000000, 0x3e004080, 0x52205480, true }, /* 0 + 32 * 2.25 = 72 */
        { "add.noftz.bf16", 0x3f80, 0x3fc0, 0x4244, false },
        { "add.noftz.bf16x2", 0x3f800000, 0x3fc04000, 0x42444280, true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char ptx[4000] = "";
        const char *bits = rows[i].is_pair ? "b32" : "b16", *kind = rows[i].is_pair ? "r" : "rs";
        append(ptx, sizeof ptx,
               "%s%smov.u32 %%r7, %u;\nsetp.eq.u32 %%p1, %%r1, 0;\n"
               "@%%p1 st.global.u32 [%%rd1], %%r7;\nbar.warp.sync -1;\nmov.%s %%%s6, %u;\n"
               "atom.global.%s %%%s5, [%%rd1], %%%s6;\nret;\n}\n",
               HEAD, BEGIN, rows[i].start, bits, kind, rows[i].operand, rows[i].opcode, kind, kind);
        Trial trial = { .ptx = ptx };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT(trial.well && !finding_count());
        CU_ASSERT_EQUAL(trial.out[0], rows[i].sum);
        trial_close(&trial);
    }
}

/* ---- Asynchronous copies of each size, with partial or no reads ---- */

static void async_copies(void)
{
    static const struct {
        const char *opcode, *operands;
        uint32_t first, last; /* words of lane 1: the first and the last */
    } rows[] = {
        { "cp.async.ca.shared.global", "4", 101, 101 },
        { "cp.async.ca.shared.global", "8", 101, 201 },
        { "cp.async.ca.shared.global.L2::128B", "16", 101, 401 },
        { "cp.async.cg.shared.global", "16", 101, 401 },
        { "cp.async.cg.shared.global", "16, 8", 101, 0 },
        { "cp.async.cg.shared.global", "16, %r1", 101 & 0xff, 0 }, /* lane 1: one byte */
        { "cp.async.cg.shared.global", "16, %p1", 0, 0 },
        { "cp.async.cg.shared.global", "16, !%p1", 101, 401 },
        { "cp.async.cg.shared.global.L2::cache_hint", "16, %rd9", 101, 401 },
        { "cp.async.cg.shared.global.L2::cache_hint", "16, 4, %rd9", 101, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char ptx[4000] = MEMORY_HEAD;
        int bytes = atoi(rows[i].operands);
        append(ptx, sizeof ptx,
               "mad.wide.u32 %%rd20, %%r1, 16, %%rd1;\nadd.s64 %%rd20, %%rd20, 4096;\n"
               "add.u32 %%r10, %%r1, 100;\nadd.u32 %%r11, %%r1, 200;\nadd.u32 %%r12, %%r1, 300;\n"
               "add.u32 %%r13, %%r1, 400;\nst.global.v4.u32 [%%rd20], {%%r10,%%r11,%%r12,%%r13};\n"
               "mov.u32 %%r20, sh;\nmad.lo.u32 %%r20, %%r1, 16, %%r20;\n"
               "setp.eq.u32 %%p1, %%r1, 1;\n"
               "createpolicy.fractional.L2::evict_last.b64 %%rd9, 1.0;\n"
               "%s [%%r20], [%%rd20], %s;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
               "ld.shared.u32 %%r21, [%%r20];\nld.shared.u32 %%r22, [%%r20+%d];\n"
               "mad.wide.u32 %%rd24, %%r1, 8, %%rd1;\n"
               "st.global.v2.u32 [%%rd24], {%%r21, %%r22};\nret;\n}\n",
               rows[i].opcode, rows[i].operands, bytes - 4);
        Trial trial = { .ptx = ptx };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT(trial.well && !finding_count());
        CU_ASSERT_EQUAL(trial.out[2], rows[i].first);
        CU_ASSERT_EQUAL(trial.out[3], rows[i].last);
        if (finding_count())
            show_findings(rows[i].opcode);
        trial_close(&trial);
    }
}

/* ---- Instructions without a visible effect, and modifiers of loads and stores ---- */

static void without_effect(void)
{
    static const char *const lines[] = {
        "prefetch.global.L2 [%rd2]",
        "prefetch.L1 [%rd2]",
        "prefetchu.L1 [%rd2]",
        "discard.global.L2 [%rd6], 128",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
        "elect.sync %r7|%p2, -1", /* lane 0 */
        "nanosleep.u32 20",
        "pmevent 3",
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.sc.gpu",
        "fence.acq_rel.cta",
        "fence.acq_rel.sys",
        "createpolicy.fractional.L2::evict_first.b64 %rd5",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd5, [%rd1], 128, 256",
        "ldu.global.u32 %r7, [%rd2]",
        "ld.global.nc.L1::evict_last.u32 %r7, [%rd2]",
        "ld.volatile.global.u32 %r7, [%rd2]",
        "ld.relaxed.gpu.global.u32 %r7, [%rd2]",
        "ld.acquire.sys.u32 %r7, [%rd2]",
        "ld.global.cv.u32 %r7, [%rd2]",
        "ld.weak.u32 %r7, [%rd2]",
        "st.release.gpu.global.u32 [%rd2], %r9",
        "st.volatile.global.u32 [%rd2], %r9",
        "st.global.wt.u32 [%rd2], %r9",
        "st.relaxed.cta.u32 [%rd2], %r9",
        "@!%p1 brkpt",
        "@!%p1 trap",
        "@!%p1 exit",
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        char ptx[4000] = HEAD BEGIN;
        append(ptx, sizeof ptx,
               "add.s64 %%rd6, %%rd1, 8192;\nsetp.eq.u32 %%p1, %%r1, %%r1;\nmov.u32 %%r9, "
               "0;\nmov.u32 %%r7, 0;\n%s;\n"
               "add.s32 %%r0, %%r7, 5;\n%s",
               lines[i], END);
        Trial trial = { .ptx = ptx };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT(trial.well && !finding_count());
        for (int lane = 0; lane < 32; lane++)
            CU_ASSERT_EQUAL(trial.out[lane], 5);
        if (finding_count())
            show_findings(lines[i]);
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "loads and stores", round_trips },
    { "consecutive elements", consecutive_elements },
    { "atomics", atomics },
    { "atomics of halves", atomics_of_halves },
    { "copies that arrive later", async_copies },
    { "without effect", without_effect },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_moves = { "test_sim_moves", NULL, NULL, NULL, NULL, tests };
