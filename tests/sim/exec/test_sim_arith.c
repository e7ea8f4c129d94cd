/* test_sim_arith.c - compares integers, bits, moves and predicates of the simulated GPU with plain
 * code that follows the PTX specification, bit by bit where the specification does.
 */
#include "sim/sim_edges.h"
#include "sim/sim_rig.h"

/* ---- Numbers ---- */

static int width_of(const Instruction *in)
{
    return 8 * type_size(in->types[0]);
}

/* The bits as a number of the type. */
static __int128 number(PtxType type, uint64_t bits)
{
    int width = 8 * type_size(type);
    uint64_t low = low_bits(bits, width);

    return type_is_signed(type) && (low >> (width - 1) & 1)
               ? (__int128) low - ((__int128) 1 << width)
               : (__int128) low;
}

static __int128 saturated(__int128 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

static __int128 product(const Instruction *in, const uint64_t *x)
{
    PtxType type = in->types[0];
    bool is24 = in->op == OP_mul24 || in->op == OP_mad24;
    __int128 a = number(type, x[0]), b = number(type, x[1]);

    if (is24 && type == TYPE_S32) {
        a = ((int32_t) x[0] & 0x7fffff) - ((int32_t) x[0] & 0x800000);
        b = ((int32_t) x[1] & 0x7fffff) - ((int32_t) x[1] & 0x800000);
    } else if (is24) {
        a &= 0xffffff;
        b &= 0xffffff;
    }
    __int128 all = (__int128) ((unsigned __int128) a * (unsigned __int128) b);
    if (has_mod(in, MOD_hi)) /* two's complement: a product of u64 may fill all 128 bits */
        all = type == TYPE_U64 ? (__int128) ((unsigned __int128) all >> 64)
                               : all >> (is24 ? 16 : width_of(in));
    if (is24 && has_mod(in, MOD_hi))
        return (int32_t) all;
    return all;
}

static uint64_t add_sub_mul(const Instruction *in, const uint64_t *x, bool *any)
{
    __int128 a = number(in->types[0], x[0]), b = number(in->types[0], x[1]);
    __int128 c = has_mod(in, MOD_wide) ? (__int128) x[2] : number(in->types[0], x[2]);
    __int128 result = in->op == OP_add   ? a + b
                      : in->op == OP_sub ? a - b
                      : in->op == OP_mul || in->op == OP_mul24
                          ? product(in, x)
                          : (__int128) ((unsigned __int128) product(in, x) + (unsigned __int128) c);

    (void) any;
    if (has_mod(in, MOD_sat) && in->op >= OP_mad && in->op <= OP_mad24)
        result = saturated((__int128) (int32_t) product(in, x) + c);
    else if (has_mod(in, MOD_sat))
        result = saturated(result);
    return (uint64_t) result;
}

static uint64_t divide(const Instruction *in, const uint64_t *x, bool *any)
{
    __int128 a = number(in->types[0], x[0]), b = number(in->types[0], x[1]);

    (void) any;
    if (!b)
        return ~0ull;
    return (uint64_t) (in->op == OP_div ? a / b : a % b);
}

static uint64_t compare_and_sign(const Instruction *in, const uint64_t *x, bool *any)
{
    __int128 a = number(in->types[0], x[0]), b = number(in->types[0], x[1]), result;

    (void) any;
    switch (in->op) {
    case OP_abs:
        return (uint64_t) (a < 0 ? -a : a);
    case OP_neg:
        return (uint64_t) -a;
    case OP_sad:
        return (uint64_t) (number(in->types[0], x[2]) + (a < b ? b - a : a - b));
    default:
        result = (a < b) == (in->op == OP_min) ? a : b;
        return (uint64_t) (has_mod(in, MOD_relu) && result < 0 ? 0 : result);
    }
}

static uint64_t dot(const Instruction *in, const uint64_t *x, bool *any)
{
    bool four = in->op == OP_dp4a;
    uint32_t sum = (uint32_t) x[2];

    (void) any;
    for (int i = 0; i < (four ? 4 : 2); i++) {
        PtxType a =
            in->types[0] == TYPE_U32 ? (four ? TYPE_U8 : TYPE_U16) : (four ? TYPE_S8 : TYPE_S16);
        PtxType b = in->types[1] == TYPE_U32 ? TYPE_U8 : TYPE_S8;
        int upper = has_mod(in, MOD_hi) ? 2 : 0;
        sum += (uint32_t) (number(a, x[0] >> (four ? 8 : 16) * i) *
                           number(b, x[1] >> 8 * (i + upper)));
    }
    return sum;
}

/* ---- Bits, after the pseudo-code of the PTX specification ---- */

static bool bit(uint64_t x, int64_t n)
{
    return n >= 0 && n < 64 && (x >> n & 1);
}

static uint64_t logic(const Instruction *in, const uint64_t *x, bool *any)
{
    uint64_t result = 0;

    (void) any;
    for (int i = 0; i < 64; i++) {
        bool a = bit(x[0], i), b = bit(x[1], i), c = bit(x[2], i);
        bool y = in->op == OP_and   ? a && b
                 : in->op == OP_or  ? a || b
                 : in->op == OP_xor ? a != b
                 : in->op == OP_not ? !a
                                    : bit(x[3], a * 4 + b * 2 + c);
        result |= (uint64_t) y << i;
    }
    return in->op == OP_cnot ? low_bits(x[0], width_of(in)) == 0 : result;
}

static uint64_t shift(const Instruction *in, const uint64_t *x, bool *any)
{
    int width = width_of(in);
    uint32_t n = (uint32_t) x[1] < (uint32_t) width ? (uint32_t) x[1] : (uint32_t) width;
    __int128 a = number(in->types[0], x[0]);

    (void) any;
    return (uint64_t) (in->op == OP_shl ? (__int128) ((unsigned __int128) a << n) : a >> n);
}

static uint64_t funnel(const Instruction *in, const uint64_t *x, bool *any)
{
    uint32_t c = (uint32_t) x[2], n = has_mod(in, MOD_wrap) ? c & 31 : c < 32 ? c : 32;
    unsigned __int128 both = (unsigned __int128) (uint32_t) x[1] << 32 | (uint32_t) x[0];

    (void) any;
    return has_mod(in, MOD_l) ? (uint32_t) (both << n >> 32) : (uint32_t) (both >> n);
}

static uint64_t bit_field(const Instruction *in, const uint64_t *x, bool *any)
{
    int top = width_of(in) - 1;
    uint64_t result = 0;

    (void) any;
    if (in->op == OP_bfi) {
        int at = x[2] & 255, count = x[3] & 255;
        result = x[1];
        for (int i = 0; i < count && at + i <= top; i++)
            result = (result & ~(1ull << (at + i))) | (uint64_t) bit(x[0], i) << (at + i);
        return result;
    }
    int at = x[1] & 255, count = x[2] & 255, last = at + count - 1 < top ? at + count - 1 : top;
    bool sign = type_is_signed(in->types[0]) && count && bit(x[0], last);
    for (int i = 0; i <= top; i++)
        result |= (uint64_t) (i < count && at + i <= top ? bit(x[0], at + i) : sign) << i;
    return result;
}

static uint64_t find_and_count(const Instruction *in, const uint64_t *x, bool *any)
{
    int width = width_of(in), top = -1, ones = 0;
    uint64_t a = low_bits(x[0], width), reversed = 0;

    (void) any;
    for (int i = 0; i < width; i++) {
        ones += bit(a, i);
        reversed |= (uint64_t) bit(a, i) << (width - 1 - i);
    }
    bool inverted = in->op == OP_bfind && type_is_signed(in->types[0]) && bit(a, width - 1);
    for (int i = 0; i < width; i++)
        top = bit(a, i) != inverted ? i : top;
    switch (in->op) {
    case OP_popc:
        return (uint64_t) ones;
    case OP_clz:
        return (uint64_t) (width - 1 - top);
    case OP_brev:
        return reversed;
    default:
        return top < 0 ? ~0u : (uint64_t) (has_mod(in, MOD_shiftamt) ? width - 1 - top : top);
    }
}

/* bmsk, szext, fns, prmt */
static uint64_t odd_ones(const Instruction *in, const uint64_t *x, bool *any)
{
    uint32_t a = (uint32_t) x[0], b = (uint32_t) x[1], result = 0;
    bool clamp = has_mod(in, MOD_clamp);
    int64_t n = clamp ? (b < 32 ? b : 32) : b & 31, from = clamp ? a : a & 31;

    (void) any;
    if (in->op == OP_bmsk) {
        for (int64_t i = 0; i < 32; i++)
            result |= (uint32_t) (i >= from && i < from + n) << i;
        return result;
    }
    if (in->op == OP_szext) {
        bool sign = in->types[0] == TYPE_S32 && n && bit(a, n - 1);
        for (int i = 0; i < 32; i++)
            result |= (uint32_t) (i < n ? bit(a, i) : sign) << i;
        return result;
    }
    int32_t offset = (int32_t) x[2];
    if (!offset)
        return b < 32 && bit(a, b) ? b : ~0u;
    int64_t left = offset < 0 ? -(int64_t) offset : offset;
    for (int64_t at = b; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
        if (bit(a, at) && --left == 0)
            return (uint64_t) at;
    return ~0u;
}

static uint64_t permute(const Instruction *in, const uint64_t *x, bool *any)
{
    uint64_t both = (uint64_t) (uint32_t) x[1] << 32 | (uint32_t) x[0], result = 0;
    int s = x[2] & 3;

    (void) any;
    for (int i = 0; i < 4; i++) {
        int choice = (int) (x[2] >> 4 * i & 15);
        if (has_mod(in, MOD_f4e))
            choice = s + i;
        else if (has_mod(in, MOD_b4e))
            choice = (s - i) & 7;
        else if (has_mod(in, MOD_rc8))
            choice = s;
        else if (has_mod(in, MOD_ecl))
            choice = i > s ? i : s;
        else if (has_mod(in, MOD_ecr))
            choice = i < s ? i : s;
        else if (has_mod(in, MOD_rc16))
            choice = (s & 1) * 2 + (i & 1);
        uint64_t byte = both >> 8 * (choice & 7) & 255;
        result |= (choice & 8 ? (byte >> 7) * 255 : byte) << 8 * i;
    }
    return result;
}

/* ---- Moves and addresses ---- */

static uint64_t copied(const Instruction *in, const uint64_t *x, bool *any)
{
    uint64_t window = in->space == SPACE_SHARED  ? SHARED_WINDOW
                      : in->space == SPACE_LOCAL ? LOCAL_WINDOW
                                                 : 0;

    (void) any;
    return in->op != OP_cvta ? x[0] : in->to ? x[0] - window : x[0] + window;
}

static uint64_t is_in_space(const Instruction *in, const uint64_t *x, bool *any)
{
    static const uint64_t windows[] = {
        [SPACE_SHARED] = SHARED_WINDOW, [SPACE_LOCAL] = LOCAL_WINDOW
    };
    uint64_t address = x[0];

    (void) any;
    return in->space == SPACE_GLOBAL
               ? address < SHARED_WINDOW || address >= GLOBAL_BASE
               : address >= windows[in->space] && address < windows[in->space] + WINDOW_BYTES;
}

static uint64_t selected(const Instruction *in, const uint64_t *x, bool *any)
{
    float c;
    uint32_t bits = (uint32_t) x[2];

    (void) any;
    memcpy(&c, &bits, sizeof c);
    if (in->op == OP_selp)
        return x[2] & 1 ? x[0] : x[1];
    if (in->types[1] == TYPE_S32)
        return (int32_t) bits >= 0 ? x[0] : x[1];
    if (has_mod(in, MOD_ftz) && !(bits & 0x7f800000))
        c = 0;
    return c >= 0 ? x[0] : x[1];
}

static uint64_t predicates(const Instruction *in, const uint64_t *x, bool *any)
{
    return logic(in, (uint64_t[]){ x[0], x[1], 0, 0 }, any);
}

/* ---- The table: opcodes, with * in place of each of the types ---- */

#define INTS "u16 s16 u32 s32 u64 s64"
#define BITS "b16 b32 b64"

static const struct {
    const char *opcode, *types;
    int operands;
    Oracle *oracle;
} rows[] = {
    { "add.*", INTS, 3, add_sub_mul },
    { "sub.*", INTS, 3, add_sub_mul },
    { "add.sat.*", "s32", 3, add_sub_mul },
    { "sub.sat.*", "s32", 3, add_sub_mul },
    { "mul.lo.*", INTS, 3, add_sub_mul },
    { "mul.hi.*", INTS, 3, add_sub_mul },
    { "mul.wide.*", "u16 s16 u32 s32", 3, add_sub_mul },
    { "mad.lo.*", INTS, 4, add_sub_mul },
    { "mad.hi.*", INTS, 4, add_sub_mul },
    { "mad.wide.*", "u16 s16 u32 s32", 4, add_sub_mul },
    { "mad.hi.sat.*", "s32", 4, add_sub_mul },
    { "mul24.lo.*", "u32 s32", 3, add_sub_mul },
    { "mul24.hi.*", "u32 s32", 3, add_sub_mul },
    { "mad24.lo.*", "u32 s32", 4, add_sub_mul },
    { "mad24.hi.*", "u32 s32", 4, add_sub_mul },
    { "mad24.hi.sat.*", "s32", 4, add_sub_mul },
    { "div.*", INTS, 3, divide },
    { "rem.*", INTS, 3, divide },
    { "abs.*", "s16 s32 s64", 2, compare_and_sign },
    { "neg.*", "s16 s32 s64", 2, compare_and_sign },
    { "min.*", INTS, 3, compare_and_sign },
    { "max.*", INTS, 3, compare_and_sign },
    { "min.relu.*", "s32", 3, compare_and_sign },
    { "max.relu.*", "s32", 3, compare_and_sign },
    { "sad.*", INTS, 4, compare_and_sign },
    { "dp4a.*.u32", "u32 s32", 4, dot },
    { "dp4a.*.s32", "u32 s32", 4, dot },
    { "dp2a.lo.*.u32", "u32 s32", 4, dot },
    { "dp2a.hi.*.s32", "u32 s32", 4, dot },
    { "dp2a.lo.*.s32", "u32 s32", 4, dot },
    { "dp2a.hi.*.u32", "u32 s32", 4, dot },
    { "and.*", BITS, 3, logic },
    { "or.*", BITS, 3, logic },
    { "xor.*", BITS, 3, logic },
    { "not.*", BITS, 2, logic },
    { "cnot.*", BITS, 2, logic },
    { "lop3.*", "b32", 5, logic },
    { "shl.*", BITS, 3, shift },
    { "shr.*", BITS " " INTS, 3, shift },
    { "shf.l.clamp.*", "b32", 4, funnel },
    { "shf.l.wrap.*", "b32", 4, funnel },
    { "shf.r.clamp.*", "b32", 4, funnel },
    { "shf.r.wrap.*", "b32", 4, funnel },
    { "bfe.*", "u32 s32 u64 s64", 4, bit_field },
    { "bfi.*", "b32 b64", 5, bit_field },
    { "bfind.*", "u32 s32 u64 s64", 2, find_and_count },
    { "bfind.shiftamt.*", "u32 s32 u64 s64", 2, find_and_count },
    { "popc.*", "b32 b64", 2, find_and_count },
    { "clz.*", "b32 b64", 2, find_and_count },
    { "brev.*", "b32 b64", 2, find_and_count },
    { "bmsk.clamp.*", "b32", 3, odd_ones },
    { "bmsk.wrap.*", "b32", 3, odd_ones },
    { "szext.clamp.*", "u32 s32", 3, odd_ones },
    { "szext.wrap.*", "u32 s32", 3, odd_ones },
    { "fns.*", "b32", 4, odd_ones },
    { "prmt.*", "b32", 4, permute },
    { "prmt.*.f4e", "b32", 4, permute },
    { "prmt.*.b4e", "b32", 4, permute },
    { "prmt.*.rc8", "b32", 4, permute },
    { "prmt.*.ecl", "b32", 4, permute },
    { "prmt.*.ecr", "b32", 4, permute },
    { "prmt.*.rc16", "b32", 4, permute },
    { "mov.*", BITS " " INTS " f32 f64", 2, copied },
    { "cvta.*.u64", "global const shared local", 2, copied },
    { "cvta.to.*.u64", "global const shared local", 2, copied },
    { "selp.*", BITS " " INTS " f32 f64", 4, selected },
    { "slct.*.s32", BITS " " INTS " f32 f64", 4, selected },
    { "slct.*.f32", BITS " " INTS " f32 f64", 4, selected },
    { "slct.ftz.*.f32", BITS " " INTS " f32 f64", 4, selected },
    { "and.*", "pred", 3, predicates },
    { "or.*", "pred", 3, predicates },
    { "xor.*", "pred", 3, predicates },
    { "not.*", "pred", 2, predicates },
    { "mov.*", "pred", 2, copied },
};

static void each_operation_of_each_type(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char types[200], *rest = types;
        snprintf(types, sizeof types, "%s", rows[i].types);
        while (rest) {
            char opcode[100];
            const char *star = strchr(rows[i].opcode, '*'), *type = strsep(&rest, " ");
            snprintf(opcode, sizeof opcode, "%.*s%s%s", (int) (star - rows[i].opcode),
                     rows[i].opcode, type, star + 1);
            CU_ASSERT(
                rig_try(opcode, rows[i].operands, edges_64, COUNT(edges_64), 4000, rows[i].oracle));
        }
    }
}

static void spaces_of_addresses(void)
{
    static const uint64_t addresses[] = {
        0,
        SHARED_WINDOW - 1,
        SHARED_WINDOW,
        SHARED_WINDOW + 100,
        LOCAL_WINDOW,
        LOCAL_WINDOW + 0xffffffff,
        GLOBAL_BASE,
        GLOBAL_BASE + 100,
        ~0ull,
    };

    CU_ASSERT(rig_try("isspacep.shared", 2, addresses, COUNT(addresses), 0, is_in_space));
    CU_ASSERT(rig_try("isspacep.local", 2, addresses, COUNT(addresses), 0, is_in_space));
    CU_ASSERT(rig_try("isspacep.global", 2, addresses, COUNT(addresses), 0, is_in_space));
}

/* ---- Packing ---- */

static void packing_and_unpacking(void)
{
    static const struct {
        const char *opcode;
        int count;
    } rows[] = { { "mov.b32", 2 }, { "mov.b64", 2 }, { "mov.b64", 4 }, { "mov.b32", 4 } };

    for (size_t r = 0; r < COUNT(rows) * 2; r++) {
        static uint8_t registers[12 * PLANE];
        Instruction in = rig_instruction(rows[r / 2].opcode, 2);
        Code code = { 0 };
        Warp warp = { .code = &code, .registers = registers };
        int whole = type_size(in.types[0]), bytes = whole / rows[r / 2].count;
        Step pack = { .in = &in, .vector = (uint8_t) rows[r / 2].count, .d = 8, .a = 0 };
        Step unpack = { .in = &in, .vector = (uint8_t) rows[r / 2].count, .d = 10, .a = 8 };
        simd_level = r & 1 ? cpu_simd_level() : SIMD_PLAIN;
        memset(registers, 0, sizeof registers);
        for (int n = 0; n < rows[r / 2].count; n++) {
            pack.vector_at[n] = n;
            unpack.vector_at[n] = n == 1 ? -1 : 4 + n;
            for (int i = 0; i < LANES; i++)
                memset(registers + n * PLANE + 4 * i, 0x11 * (n + 1) + i, 4);
        }
        unpack.d = 4;
        CU_ASSERT_FATAL(bind_integer(&pack, &in) && bind_integer(&unpack, &in));
        pack.run(&warp, &pack, ALL_LANES);
        unpack.run(&warp, &unpack, 0x7fffffff);
        for (int i = 0; i < LANES; i++)
            for (int n = 0; n < rows[r / 2].count; n++) {
                const uint8_t *packed = registers + 8 * PLANE + whole * i + bytes * n;
                CU_ASSERT_EQUAL(packed[0], 0x11 * (n + 1) + i);
                CU_ASSERT_EQUAL(packed[bytes - 1], 0x11 * (n + 1) + i);
                CU_ASSERT_EQUAL(registers[(4 + n) * PLANE + 4 * i],
                                n == 1 || i == 31 ? 0 : 0x11 * (n + 1) + i);
                CU_ASSERT_EQUAL(registers[(4 + n) * PLANE + 4 * i + 3],
                                n == 1 || i == 31 || bytes < 4 ? 0 : 0x11 * (n + 1) + i);
            }
    }
    simd_level = -1;
}

static void foreign_instructions_are_not_ours(void)
{
    static const char *const opcodes[] = { "add.u8",       "add.other.s32", "ld.global.u32",
                                           "mul.s32",      "shf.l.b32",     "bfe.b32",
                                           "mov.u8",       "lop3.b64",      "add.sat.u32",
                                           "mad.wide.u64", "popc.u32",      "cvta.u32" };

    for (size_t i = 0; i < COUNT(opcodes); i++) {
        Instruction in = rig_instruction(opcodes[i], 3);
        Step step = { .in = &in, .vector = 1 };
        CU_ASSERT(!bind_integer(&step, &in));
    }
}

CU_SuiteInfo test_sim_arith = {
    "sim_arith",
    .pTests =
        (CU_TestInfo[]){
            { "each operation of each type", each_operation_of_each_type },
            { "spaces of addresses", spaces_of_addresses },
            { "packing and unpacking", packing_and_unpacking },
            { "instructions of other families are not bound", foreign_instructions_are_not_ours },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
