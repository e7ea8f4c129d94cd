/* test_sim_comparisons.c - setp, set, slct, testp and similar instructions. */
#include "sim/sim_edges.h"
#include "sim/sim_oracle.h"

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
    const char *type; /* end of the type's name */
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

/* p and q, c and !c, and inactive lanes. */
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

CU_SuiteInfo test_sim_comparisons = {
    "sim_comparisons",
    .pTests =
        (CU_TestInfo[]){
            { "comparisons", comparisons },
            { "comparisons with predicates", comparisons_with_predicates },
            { "second predicates", second_predicates },
            { "kinds of floats", kinds_of_floats },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
