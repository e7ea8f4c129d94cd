/* test_sim_convert.c - cvt between all pairs of types, and comparisons, of the simulated GPU. */
#include "sim_oracle.h"

/* Patterns that are edges of integers, of f32 and of f64 alike. */
enum { MOST_EDGES = 220 };
static uint64_t edges[MOST_EDGES];
static size_t edge_count;

static void add_edges(const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count && edge_count < MOST_EDGES; i++)
        edges[edge_count++] = from[i];
}

static const uint64_t edges_integer[] = {
    0,
    1,
    2,
    127,
    128,
    129,
    255,
    256,
    0x7ffe,
    0x7fff,
    0x8000,
    0x8001,
    0xfffe,
    0xffff,
    0x10000,
    0x10001,
    0x7fffffff,
    0x80000000,
    0xffffff80,
    0xffffff7f,
    0xffff8000,
    0xffffffff,
    0x1000000,
    0x1000001,
    0x1000003,
    0xffffff,
    0x1fffffe,
    0xffffff00,
    ~0ull,
    ~127ull,
    ~128ull,
    1ull << 63,
    1ull << 53,
    (1ull << 53) + 1,
    (1ull << 53) + 3,
    ~0ull >> 1,
    ~0ull << 11,
    ~0ull << 10,
    1ull << 40,
    (1ull << 40) + (1ull << 16),
    0xffffffff00000000,
    0xffffffff80000000,
    0xffffffff7fffffff,
    65519,
    65520,
    65535,
};

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

static bool is_half(PtxType type)
{
    return type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_F16X2 || type == TYPE_BF16X2;
}

/* The value of a source: an integer or a float, exactly. */
static long double value_of(const Instruction *in, uint64_t bits)
{
    PtxType type = in->types[1];
    int width = 8 * type_size(type);

    if (is_half(type))
        return value_of_half(bits, type == TYPE_BF16);
    if (type == TYPE_F32)
        return has_mod(in, MOD_ftz) ? flushed(float_at(bits)) : float_at(bits);
    if (type == TYPE_F64)
        return f64_bits(bits);
    bits = low_bits(bits, width);
    if (type_is_signed(type) && bits >> (width - 1) & 1)
        return -(long double) (width == 64 ? -bits : (1ull << width) - bits);
    return bits;
}

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
    /* which NaN an f64 becomes from others is open */
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

/* 10 bits behind the point: those of f16, in f32's range. */
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

/* Which mods a pair needs and may have, as PTX has it. */
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

/* Bytes and bf16 have no cvt. */
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
        simd_level = i & 1 && cpu_has_avx2();
        for (int n = 0; n < LANES; n++)
            x[n] = rows[row].x;
        CU_ASSERT_FATAL(rig_open(&rig, rows[row].opcode, 2));
        rig.step.source_size = (uint8_t) (rig.bytes[1] = rows[row].source);
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

/* ---- Comparisons ---- */

static const char *const orders[] = { "eq", "ne", "lt", "le", "gt", "ge" };
static const char *const unsigned_orders[] = { "lo", "ls", "hi", "hs" };
static const char *const unordered[] = { "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };

static PtxType compared(const Instruction *in)
{
    return in->op == OP_set ? in->types[1] : in->types[0];
}

static long double operand(const Instruction *in, uint64_t bits, int half)
{
    Instruction as = *in;

    as.types[1] = compared(in);
    if (is_half(as.types[1])) {
        bits = bits >> 16 * half & 0xffff;
        if (has_mod(in, MOD_ftz) && !(bits & 0x7c00))
            bits &= 0x8000;
        return value_of_half(bits, as.types[1] == TYPE_BF16 || as.types[1] == TYPE_BF16X2);
    }
    return value_of(&as, bits);
}

static bool answer(const Instruction *in, const uint64_t *x, int half)
{
    long double a = operand(in, x[0], half), b = operand(in, x[1], half);
    bool nan = isnan(a) || isnan(b), is = false;
    static const struct {
        Mod mod;
        char relation[4]; /* of < = > and u for unordered */
    } rows[] = { { MOD_eq, "=" },    { MOD_ne, "<>" },   { MOD_lt, "<" },   { MOD_le, "<=" },
                 { MOD_gt, ">" },    { MOD_ge, ">=" },   { MOD_lo, "<" },   { MOD_ls, "<=" },
                 { MOD_hi, ">" },    { MOD_hs, ">=" },   { MOD_equ, "=u" }, { MOD_neu, "<>u" },
                 { MOD_ltu, "<u" },  { MOD_leu, "<=u" }, { MOD_gtu, ">u" }, { MOD_geu, ">=u" },
                 { MOD_num, "<=>" }, { MOD_nan, "u" } };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (has_mod(in, rows[i].mod))
            is = memchr(rows[i].relation, nan ? 'u' : a < b ? '<' : a > b ? '>' : '=', 4) != NULL;
    return is;
}

static bool with_c(const Instruction *in, bool is, bool c)
{
    return has_mod(in, MOD_and)   ? is && c
           : has_mod(in, MOD_or)  ? is || c
           : has_mod(in, MOD_xor) ? is != c
                                  : is;
}

static uint64_t predicate_p(const Instruction *in, const uint64_t *x, bool *any)
{
    (void) any;
    return with_c(in, answer(in, x, 0), x[2] & 1);
}

static uint64_t word(const Instruction *in, const uint64_t *x, bool *any)
{
    bool low = with_c(in, answer(in, x, 0), x[2] & 1),
         two = type_size(compared(in)) == 4 && is_half(compared(in));
    bool high = two && with_c(in, answer(in, x, 1), x[2] & 1);
    uint64_t yes = in->types[0] == TYPE_F32                                      ? 0x3f800000
                   : in->types[0] == TYPE_F16 || in->types[0] == TYPE_F16X2      ? 0x3c00
                   : in->types[0] == TYPE_BF16 || in->types[0] == TYPE_BF16X2    ? 0x3f80
                   : two || in->types[0] == TYPE_U16 || in->types[0] == TYPE_S16 ? 0xffff
                                                                                 : 0xffffffff;

    (void) any;
    return (low ? yes : 0) | (high ? yes << 16 : 0);
}

typedef struct Edges {
    const char *type; /* that ends so */
    const uint64_t *values;
    size_t count;
} Edges;

static const Edges *edges_for(const char *type)
{
    static const Edges sets[] = { { "f32", edges_f32, COUNT(edges_f32) },
                                  { "f64", edges_f64, COUNT(edges_f64) },
                                  { "f16", edges_half, COUNT(edges_half) },
                                  { "f16x2", edges_half, COUNT(edges_half) },
                                  { "", edges_integer, COUNT(edges_integer) } };
    const Edges *set = sets;

    while (strlen(type) < strlen(set->type) ||
           strcmp(type + strlen(type) - strlen(set->type), set->type))
        set++;
    return set;
}

static void try_orders(const char *const *words, size_t count, const char *pattern,
                       const char *type, int operands, Oracle *oracle)
{
    for (size_t i = 0; i < count; i++) {
        char opcode[80];
        snprintf(opcode, sizeof opcode, pattern, words[i], type);
        const Edges *set = edges_for(type);
        CU_ASSERT(rig_try(opcode, operands, set->values, set->count, 1000, oracle));
    }
}

static const char *const bits[] = { "b16", "b32", "b64" };

static void comparisons(void)
{
    static const char *const integers[] = { "u16", "s16", "u32", "s32", "u64", "s64" };
    static const char *const floats[] = { "f32", "f64", "f16", "bf16" };

    for (size_t i = 0; i < COUNT(bits); i++)
        try_orders(orders, 2, "setp.%s.%s", bits[i], 3, predicate_p);
    for (size_t i = 0; i < COUNT(integers); i++) {
        try_orders(orders, COUNT(orders), "setp.%s.%s", integers[i], 3, predicate_p);
        if (i % 2 == 0)
            try_orders(unsigned_orders, COUNT(unsigned_orders), "setp.%s.%s", integers[i], 3,
                       predicate_p);
    }
    for (size_t i = 0; i < COUNT(floats); i++) {
        try_orders(orders, COUNT(orders), "setp.%s.%s", floats[i], 3, predicate_p);
        try_orders(unordered, COUNT(unordered), "setp.%s.%s", floats[i], 3, predicate_p);
    }
    try_orders(orders, COUNT(orders), "setp.%s.ftz.%s", "f32", 3, predicate_p);
    try_orders(unordered, COUNT(unordered), "setp.%s.ftz.%s", "f32", 3, predicate_p);
    try_orders(orders, COUNT(orders), "setp.%s.ftz.%s", "f16", 3, predicate_p);
}

static void comparisons_with_predicates(void)
{
    static const char *const rows[] = { "setp.%s.and.%s", "setp.%s.or.%s", "setp.%s.xor.%s" };
    static const char *const sets[] = {
        "set.%s.u32.%s",     "set.%s.s32.%s",    "set.%s.f32.%s",
        "set.%s.and.u32.%s", "set.%s.or.s32.%s", "set.%s.xor.f32.%s"
    };
    static const char *const types[] = { "u16", "s16", "u32", "s32", "u64",
                                         "s64", "f32", "f64", "f16", "bf16" };

    for (size_t i = 0; i < COUNT(types); i++) {
        bool is_float = strchr(types[i], 'f');
        for (size_t r = 0; r < COUNT(rows); r++) {
            try_orders(orders, COUNT(orders), rows[r], types[i], 4, predicate_p);
            if (is_float)
                try_orders(unordered, COUNT(unordered), rows[r], types[i], 4, predicate_p);
        }
        for (size_t r = 0; r < COUNT(sets); r++) {
            if (strstr(types[i], "f16") && r % 3 == 2)
                continue; /* there is no set.f32.f16 */
            try_orders(orders, COUNT(orders), sets[r], types[i], r < 3 ? 3 : 4, word);
            if (is_float)
                try_orders(unordered, COUNT(unordered), sets[r], types[i], r < 3 ? 3 : 4, word);
        }
    }
    for (size_t r = 0; r < COUNT(sets); r++)
        for (size_t i = 0; i < 3; i++)
            try_orders(orders, 2, sets[r], bits[i], r < 3 ? 3 : 4, word);
    try_orders(unordered, COUNT(unordered), "set.%s.ftz.u32.%s", "f32", 3, word);
    try_orders(unordered, COUNT(unordered), "set.%s.f16.%s", "f16", 3, word);
    try_orders(unordered, COUNT(unordered), "set.%s.f16x2.%s", "f16x2", 3, word);
    try_orders(unordered, COUNT(unordered), "set.%s.and.u32.%s", "f16x2", 4, word);
    try_orders(orders, COUNT(orders), "set.%s.bf16x2.%s", "bf16x2", 3, word);
    try_orders(orders, COUNT(orders), "set.%s.u16.%s", "f16", 3, word);
    try_orders(orders, COUNT(orders), "set.%s.bf16.%s", "bf16", 3, word);
    try_orders(orders, COUNT(orders), "set.%s.ftz.f16.%s", "f16", 3, word);
    try_orders(unordered, COUNT(unordered), "setp.%s.ftz.and.%s", "f32", 4, predicate_p);
}

/* p and q, c and !c, and lanes that are not chosen. */
static void second_predicates(void)
{
    static const char *const opcodes[] = { "setp.lt.s32", "setp.lt.and.s32", "setp.lt.or.s32",
                                           "setp.lt.xor.s32" };
    uint64_t a[LANES], b[LANES];

    for (int i = 0; i < LANES; i++) {
        a[i] = (uint64_t) i % 5;
        b[i] = (uint64_t) i % 3;
    }
    for (size_t n = 0; n < COUNT(opcodes) * 2; n++) {
        static Rig rig;
        bool negated = n & 1;
        uint32_t c = 0x35c6a9f0, less = 0, mask = 0xffff00ff;
        CU_ASSERT_FATAL(rig_open(&rig, opcodes[n / 2], n < 2 ? 4 : 5));
        rig_put(&rig, 1, a);
        rig_put(&rig, 2, b);
        rig.predicates[3] = c;
        rig.predicates[0] = rig.predicates[7] = 0x0000a500;
        rig.step.negated_c = negated;
        CU_ASSERT_FATAL(rig_bind(&rig));
        rig_note(&rig);
        rig.step.run(&rig.warp, &rig.step, mask);
        for (int i = 0; i < LANES; i++)
            less |= (uint32_t) (a[i] < b[i]) << i;
        c = negated ? ~c : c;
        uint32_t p = n < 2 ? less : n < 4 ? less & c : n < 6 ? less | c : less ^ c;
        uint32_t q = n < 2 ? ~less : n < 4 ? ~less & c : n < 6 ? ~less | c : ~less ^ c;
        CU_ASSERT_EQUAL(rig.predicates[0], (p & mask) | 0xa500);
        CU_ASSERT_EQUAL(rig.predicates[7], (q & mask) | 0xa500);
    }
}

static uint64_t kind_of(const Instruction *in, const uint64_t *x, bool *any)
{
    int kind = in->types[0] == TYPE_F32 ? fpclassify(float_at(x[0])) : fpclassify(f64_bits(x[0]));

    (void) any;
    switch (in->mods[0]) {
    case MOD_finite:
        return kind != FP_NAN && kind != FP_INFINITE;
    case MOD_infinite:
        return kind == FP_INFINITE;
    case MOD_number:
        return kind != FP_NAN;
    case MOD_notanumber:
        return kind == FP_NAN;
    case MOD_normal:
        return kind == FP_NORMAL;
    default:
        return kind == FP_SUBNORMAL;
    }
}

static void kinds_of_floats(void)
{
    static const char *const kinds[] = { "finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal" };

    try_orders(kinds, COUNT(kinds), "testp.%s.%s", "f32", 2, kind_of);
    try_orders(kinds, COUNT(kinds), "testp.%s.%s", "f64", 2, kind_of);
}

CU_SuiteInfo test_sim_convert = {
    "sim_convert",
    .pInitFunc = set_up,
    .pTests =
        (CU_TestInfo[]){
            { "cvt of all pairs", all_pairs },
            { "pairs in one register", pairs_in_one_register },
            { "wide registers", wide_registers },
            { "comparisons", comparisons },
            { "comparisons with predicates", comparisons_with_predicates },
            { "second predicates", second_predicates },
            { "kinds of floats", kinds_of_floats },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
