/* test_sim_convert.c - cvt between all pairs of types, of the simulated GPU. */
#include "sim/sim_edges.h"
#include "sim/sim_oracle.h"

/* Bit patterns that are edge cases of integers, f32 or f64. */
enum { MOST_EDGES = 220 };
static uint64_t edges[MOST_EDGES];
static size_t edge_count;

static void add_edges(const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count && edge_count < MOST_EDGES; i++)
        edges[edge_count++] = from[i];
}

static int set_up(void)
{
    edge_count = 0;
    add_edges(edges_integer, COUNT(edges_integer));
    add_edges(edges_f32, COUNT(edges_f32));
    add_edges(edges_f64, COUNT(edges_f64));
    add_edges(edges_half, COUNT(edges_half));
    return 0;
}

/* ---- cvt ---- */

static long double whole_of(const Instruction *in, long double x)
{
    return has_mod(in, MOD_rni)   ? rintl(x)
           : has_mod(in, MOD_rzi) ? truncl(x)
           : has_mod(in, MOD_rmi) ? floorl(x)
           : has_mod(in, MOD_rpi) ? ceill(x)
                                  : x;
}

static uint64_t float_result(const Instruction *in, PtxType type, long double x, uint64_t nan)
{
    volatile long double source = x;
    volatile float single;
    volatile double twice;

    if (has_mod(in, MOD_sat))
        source = x = !(x > 0) ? 0 : x > 1 ? 1 : x;
    if (is_half(type))
        return half_from((Quad) x, type == TYPE_BF16 || type == TYPE_BF16X2, direction_of(in));
    fesetround(direction_of(in));
    single = (float) source;
    twice = (double) source;
    fesetround(FE_TONEAREST);
    if (type == TYPE_F64)
        return isnan(x) ? nan : bits_f64(twice);
    return bits_of_f32(has_mod(in, MOD_ftz) ? flushed(single) : single);
}

static uint64_t integer_result(const Instruction *in, long double x)
{
    PtxType type = in->types[0];
    int width = 8 * type_size(type);
    bool from_float = type_is_float(in->types[1]);
    long double least = type_is_signed(type) ? -ldexpl(1, width - 1) : 0;
    long double most = ldexpl(1, width - type_is_signed(type)) - 1;

    if (isnan(x))
        return in->types[1] == TYPE_F64 || width == 64 ? 1ull << (width - 1) : 0;
    if (from_float || has_mod(in, MOD_sat))
        x = x < least ? least : x > most ? most : x;
    return x < 0 ? -(uint64_t) -x : (uint64_t) x;
}

static uint64_t converted(const Instruction *in, const uint64_t *x, bool *any)
{
    long double value = whole_of(in, value_of(in, x[0]));
    uint64_t nan = in->types[1] == TYPE_F64 ? x[0] | 1ull << 51 : 0;

    if (!type_is_float(in->types[0]))
        return integer_result(in, value);
    /* An H200 converts the NaN 7ff8000000000000 to 7fc00000, not to 7fffffff, the NaN of all other
     * instructions. */
    if (isnan(value) && in->types[0] == TYPE_F32 && in->types[1] == TYPE_F64 &&
        !has_mod(in, MOD_sat))
        return (x[0] >> 63 << 31) | 0x7fc00000 | (x[0] >> 29 & 0x3fffff);
    /* PTX does not define which NaN a conversion to f64 gives */
    *any = isnan(value) && in->types[0] == TYPE_F64 && in->types[1] != TYPE_F64 &&
           !has_mod(in, MOD_sat);
    return float_result(in, in->types[0], value, nan);
}

static uint64_t packed_floats(const Instruction *in, const uint64_t *x, bool *any)
{
    uint64_t half[2];

    (void) any;
    for (int i = 0; i < 2; i++) {
        float value = float_at(x[1 - i]);
        if (has_mod(in, MOD_relu) && value <= 0)
            value = 0;
        half[i] = float_result(in, in->types[0], value, 0);
    }
    return half[1] << 16 | half[0];
}

static uint64_t packed_integers(const Instruction *in, const uint64_t *x, bool *any)
{
    int width = 8 * type_size(in->types[0]);
    uint64_t a = low_bits(integer_result(in, (int32_t) x[0]), width);
    uint64_t b = low_bits(integer_result(in, (int32_t) x[1]), width);

    (void) any;
    return (in->type_count == 3 ? x[2] << 2 * width : 0) | a << width | b;
}

/* 10 fraction bits, as in f16, with the range of f32. */
static uint64_t tf32_of(const Instruction *in, const uint64_t *x, bool *any)
{
    uint32_t bits = (uint32_t) x[0];

    (void) any;
    if (isnan(float_at(bits)))
        return 0x7fffffff;
    if (isinf(float_at(bits)))
        return bits;
    if (has_mod(in, MOD_rna))
        return (bits + 0x1000) & ~0x1fffu;
    return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

static const PtxType all_types[] = { TYPE_U8,  TYPE_S8,  TYPE_U16, TYPE_S16,  TYPE_U32, TYPE_S32,
                                     TYPE_U64, TYPE_S64, TYPE_F16, TYPE_BF16, TYPE_F32, TYPE_F64 };

static void try_cvt(const char *mods, PtxType to, PtxType from)
{
    char opcode[80];

    snprintf(opcode, sizeof opcode, "cvt%s.%s.%s", mods, rig_types[to], rig_types[from]);
    CU_ASSERT(rig_try(opcode, 2, edges, edge_count, 3000, converted));
}

static const char *const nearest_and_others[] = { ".rn", ".rz", ".rm", ".rp" };
static const char *const whole[] = { ".rni", ".rzi", ".rmi", ".rpi" };

/* Tries a pair with the mods that PTX requires or allows for it. */
static void try_pair(PtxType to, PtxType from)
{
    bool to_float = type_is_float(to), from_float = type_is_float(from);
    bool f32 = to == TYPE_F32 || from == TYPE_F32, bf16 = to == TYPE_BF16 || from == TYPE_BF16;
    bool narrows = to_float && (!from_float || type_size(to) < type_size(from) ||
                                (is_half(to) && is_half(from) && to != from));
    char mods[40];

    for (int r = 0; r < 4; r++) {
        if (to_float != from_float || narrows || to == from) {
            const char *word =
                from_float && (!to_float || to == from) ? whole[r] : nearest_and_others[r];
            if (to_float == from_float && !from_float)
                break;
            if (bf16 && to == from)
                break;
            try_cvt(word, to, from);
            snprintf(mods, sizeof mods, "%s.ftz", word);
            if (f32 && !bf16)
                try_cvt(mods, to, from);
            snprintf(mods, sizeof mods, "%s.sat", word);
            if (!bf16)
                try_cvt(mods, to, from);
            snprintf(mods, sizeof mods, "%s.ftz.sat", word);
            if (f32 && !bf16)
                try_cvt(mods, to, from);
        }
    }
    if (to_float == from_float && !narrows && !(bf16 && to == from))
        try_cvt("", to, from);
    bool fits = type_size(to) > type_size(from) && (type_is_signed(to) || !type_is_signed(from));
    if (!to_float && !from_float && to != from && !fits)
        try_cvt(".sat", to, from);
}

/* There is no cvt between bytes and bf16. */
static bool exists(PtxType to, PtxType from)
{
    return (to != TYPE_BF16 || type_size(from) > 1) && (from != TYPE_BF16 || type_size(to) > 1);
}

static void all_pairs(void)
{
    for (size_t to = 0; to < COUNT(all_types); to++)
        for (size_t from = 0; from < COUNT(all_types); from++)
            if (exists(all_types[to], all_types[from]))
                try_pair(all_types[to], all_types[from]);
    try_cvt(".ftz", TYPE_F32, TYPE_F32);
    try_cvt(".sat", TYPE_F32, TYPE_F32);
    try_cvt(".ftz.sat", TYPE_F32, TYPE_F32);
    try_cvt(".ftz", TYPE_F64, TYPE_F32);
    try_cvt(".sat", TYPE_F64, TYPE_F64);
    try_cvt(".ftz", TYPE_F32, TYPE_F16);
}

static void pairs_in_one_register(void)
{
    static const struct {
        const char *opcode;
        int operands;
        Oracle *oracle;
    } rows[] = {
        { "cvt.rn.f16x2.f32", 3, packed_floats },
        { "cvt.rz.f16x2.f32", 3, packed_floats },
        { "cvt.rn.bf16x2.f32", 3, packed_floats },
        { "cvt.rz.bf16x2.f32", 3, packed_floats },
        { "cvt.rn.relu.f16x2.f32", 3, packed_floats },
        { "cvt.rz.relu.bf16x2.f32", 3, packed_floats },
        { "cvt.pack.sat.u16.s32", 3, packed_integers },
        { "cvt.pack.sat.s16.s32", 3, packed_integers },
        { "cvt.pack.sat.u8.s32.b32", 4, packed_integers },
        { "cvt.pack.sat.s8.s32.b32", 4, packed_integers },
        { "cvt.rna.tf32.f32", 2, tf32_of },
        { "cvt.rn.tf32.f32", 2, tf32_of },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT(
            rig_try(rows[i].opcode, rows[i].operands, edges, edge_count, 3000, rows[i].oracle));
}

/* Registers that are wider than the type. */
static void wide_registers(void)
{
    static const struct {
        const char *opcode;
        int source, data;
        uint64_t x, y;
    } rows[] = {
        { "cvt.s64.s32", 8, 8, 0x1234567880000000, 0xffffffff80000000 },
        { "cvt.u64.u32", 8, 8, 0x1234567880000000, 0x80000000 },
        { "cvt.s64.s8", 8, 8, 0x1234567880000080, 0xffffffffffffff80 },
        { "cvt.s64.s16", 8, 8, 0x123456788000ffff, 0xffffffffffffffff },
        { "cvt.s32.s16", 8, 4, 0x1234567880008000, 0xffff8000 },
        { "cvt.u8.u32", 4, 4, 0xffffff80, 0x80 },
        { "cvt.s8.s32", 4, 4, 0xff80, 0xffffff80 },
        { "cvt.s8.s32", 4, 8, 0xff80, 0xffffffffffffff80 },
        { "cvt.u16.u32", 4, 8, 0xabcdef01, 0xef01 },
        { "cvt.u16.s8", 4, 4, 0x80, 0xff80 },
        { "cvt.u16.s8", 4, 8, 0x80, 0xff80 },
        { "cvt.u32.s16", 4, 8, 0x8000, 0xffff8000 },
        { "cvt.rn.f32.s32", 8, 4, 0x12345678ffffffff, 0xbf800000 },
        { "cvt.rzi.s32.f32", 4, 8, 0xbfc00000, 0xffffffffffffffff },
        { "cvt.rzi.u32.f32", 4, 8, 0x4f7fffff, 0xffffff00 },
        { "cvt.sat.s8.s32", 4, 4, 0x80000000, 0xffffff80 },
        { "cvt.sat.u8.s32", 4, 8, 0x80000000, 0 },
    };

    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        static Rig rig;
        size_t row = i / 2;
        uint64_t x[LANES];
        simd_level = i & 1 ? cpu_simd_level() : SIMD_PLAIN;
        for (int n = 0; n < LANES; n++)
            x[n] = rows[row].x;
        CU_ASSERT_FATAL(rig_open(&rig, rows[row].opcode, 2));
        rig.step.convert.source_size = (uint8_t) (rig.bytes[1] = rows[row].source);
        rig.step.data_size = (uint8_t) (rig.bytes[0] = rows[row].data);
        CU_ASSERT_FATAL(rig_bind(&rig));
        rig_put(&rig, 1, x);
        rig.step.run(&rig.warp, &rig.step, 0x80000000);
        CU_ASSERT_EQUAL(rig_get(&rig, 0, 31), rows[row].y);
        CU_ASSERT_EQUAL(rig_get(&rig, 0, 30), 0);
        if (rig_get(&rig, 0, 31) != rows[row].y)
            rig_tell(&rig, x, rig_get(&rig, 0, 31), rows[row].y);
    }
    simd_level = -1;
}

CU_SuiteInfo test_sim_convert = {
    "sim_convert",
    .pInitFunc = set_up,
    .pTests =
        (CU_TestInfo[]){
            { "cvt of all pairs", all_pairs },
            { "pairs in one register", pairs_in_one_register },
            { "wide registers", wide_registers },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
