/* test_sim_float.c - f32, f64, f16 and bf16 arithmetic of the simulated GPU: bit for bit where PTX
 * defines the result, and within its error bounds where it allows approximation.
 */
#include "sim/sim_oracle.h"

/* ---- f32 and f64 ---- */

static uint64_t finished_f32(const Instruction *in, float x)
{
    if (has_mod(in, MOD_ftz))
        x = flushed(x);
    if (has_mod(in, MOD_sat))
        return bits_f32(!(x > 0) ? 0 : x > 1 ? 1 : x);
    return bits_of_f32(x);
}

static uint64_t arithmetic_f32(const Instruction *in, const uint64_t *x, bool *any)
{
    volatile float v[3], result;

    (void) any;
    for (int i = 0; i < 3; i++)
        v[i] = has_mod(in, MOD_ftz) ? flushed(float_at(x[i])) : float_at(x[i]);
    fesetround(direction_of(in));
    result = in->op == OP_add    ? v[0] + v[1]
             : in->op == OP_sub  ? v[0] - v[1]
             : in->op == OP_mul  ? v[0] * v[1]
             : in->op == OP_div  ? v[0] / v[1]
             : in->op == OP_rcp  ? 1 / v[0]
             : in->op == OP_sqrt ? sqrtf(v[0])
                                 : fmaf(v[0], v[1], v[2]);
    fesetround(FE_TONEAREST);
    return finished_f32(in, result);
}

static double f64_at(uint64_t bits)
{
    return f64_bits(bits);
}

static uint64_t arithmetic_f64(const Instruction *in, const uint64_t *x, bool *any)
{
    volatile double a = f64_at(x[0]), b = f64_at(x[1]), c = f64_at(x[2]), result;

    fesetround(direction_of(in));
    result = in->op == OP_add    ? a + b
             : in->op == OP_sub  ? a - b
             : in->op == OP_mul  ? a * b
             : in->op == OP_div  ? a / b
             : in->op == OP_rcp  ? 1 / a
             : in->op == OP_sqrt ? sqrt(a)
                                 : fma(a, b, c);
    fesetround(FE_TONEAREST);
    *any = isnan(result); /* PTX does not define which NaN */
    return bits_f64(result);
}

/* min, max, abs, neg, copysign, with -0 less than +0. */
static double chosen(const Instruction *in, double a, double b)
{
    bool a_less = a < b || (a == b && signbit(a));

    return a_less == (in->op == OP_min) ? a : b;
}

static double extreme_of(const Instruction *in, double a, double b)
{
    bool sign = has_mod(in, MOD_xorsign) && signbit(a) != signbit(b);

    if (isnan(a) || isnan(b)) {
        if (has_mod(in, MOD_NaN) || (isnan(a) && isnan(b)))
            return NAN;
        a = b = isnan(a) ? b : a;
    }
    if (has_mod(in, MOD_xorsign))
        return sign ? -chosen(in, fabs(a), fabs(b)) : chosen(in, fabs(a), fabs(b));
    return chosen(in, a, b);
}

static uint64_t signs_f32(const Instruction *in, const uint64_t *x, bool *any)
{
    bool ftz = has_mod(in, MOD_ftz);
    uint32_t a = bits_f32(ftz ? flushed(float_at(x[0])) : float_at(x[0]));
    uint32_t b = bits_f32(ftz ? flushed(float_at(x[1])) : float_at(x[1]));

    (void) any;
    switch (in->op) {
    case OP_abs:
        return a & 0x7fffffff;
    case OP_neg:
        return a ^ 0x80000000;
    case OP_copysign:
        return (b & 0x7fffffff) | (a & 0x80000000);
    default:
        return bits_of_f32((float) extreme_of(in, f32_bits(a), f32_bits(b)));
    }
}

static uint64_t signs_f64(const Instruction *in, const uint64_t *x, bool *any)
{
    double result;

    switch (in->op) {
    case OP_abs:
        return x[0] & ~(1ull << 63);
    case OP_neg:
        return x[0] ^ 1ull << 63;
    case OP_copysign:
        return (x[1] & ~(1ull << 63)) | (x[0] & 1ull << 63);
    default:
        result = extreme_of(in, f64_at(x[0]), f64_at(x[1]));
        *any = isnan(result);
        return bits_f64(result);
    }
}

/* ---- Halves ---- */

/* If one operand is so small that only its sign affects rounding, it is replaced by one large
 * enough for a Quad's 113 bits. */
static Quad sum_of(Quad p, Quad c)
{
    Quad a = p < 0 ? -p : p, b = c < 0 ? -c : c, tiny = 0x1p-90;

    if (a - a == 0 && b - b == 0 && a != 0 && b != 0) {
        if (b < a * tiny)
            c = c < 0 ? -a * tiny : a * tiny;
        if (a < b * tiny)
            p = p < 0 ? -b * tiny : b * tiny;
    }
    return p + c;
}

static bool is_bf16(const Instruction *in)
{
    return in->types[0] == TYPE_BF16 || in->types[0] == TYPE_BF16X2;
}

static uint32_t flushed_half(const Instruction *in, uint32_t x)
{
    return has_mod(in, MOD_ftz) && !(x & 0x7c00) ? x & 0x8000 : x & 0xffff;
}

static uint32_t one_half_of(const Instruction *in, uint32_t x, uint32_t y, uint32_t z)
{
    bool bf16 = is_bf16(in);
    double a = value_of_half(x = flushed_half(in, x), bf16);
    double b = value_of_half(y = flushed_half(in, y), bf16);
    double c = value_of_half(z = flushed_half(in, z), bf16), e;
    Quad result = 0;

    switch (in->op) {
    case OP_add:
        result = sum_of(a, b);
        break;
    case OP_sub:
        result = sum_of(a, -b);
        break;
    case OP_mul:
        result = (Quad) a * b;
        break;
    case OP_fma:
        result = sum_of((Quad) a * b, c);
        break;
    case OP_neg:
        return x ^ 0x8000;
    case OP_abs:
        return x & 0x7fff;
    default:
        e = extreme_of(in, a, b);
        return half_from(e, bf16, FE_TONEAREST);
    }
    if (has_mod(in, MOD_sat))
        result = !(result > 0) ? 0 : result > 1 ? 1 : result;
    if (has_mod(in, MOD_relu) && result <= 0)
        result = 0;
    return flushed_half(in, half_from(result, bf16, FE_TONEAREST));
}

static uint64_t arithmetic_half(const Instruction *in, const uint64_t *x, bool *any)
{
    uint32_t a = (uint32_t) x[0], b = (uint32_t) x[1], c = (uint32_t) x[2];
    uint32_t low = one_half_of(in, a & 0xffff, b & 0xffff, c & 0xffff);

    (void) any;
    return type_size(in->types[0]) == 4 ? one_half_of(in, a >> 16, b >> 16, c >> 16) << 16 | low
                                        : low;
}

/* ---- The table ---- */

typedef struct Trial {
    const char *opcode;
    int operands;
    Oracle *oracle;
} Trial;

static const char *const roundings[] = { "rn", "rz", "rm", "rp" };

static const Trial rounded[] = {
    /* %s: the rounding */
    { "add.%s.f32", 3, arithmetic_f32 },     { "add.%s.ftz.f32", 3, arithmetic_f32 },
    { "add.%s.sat.f32", 3, arithmetic_f32 }, { "add.%s.ftz.sat.f32", 3, arithmetic_f32 },
    { "sub.%s.f32", 3, arithmetic_f32 },     { "sub.%s.ftz.f32", 3, arithmetic_f32 },
    { "sub.%s.sat.f32", 3, arithmetic_f32 }, { "sub.%s.ftz.sat.f32", 3, arithmetic_f32 },
    { "mul.%s.f32", 3, arithmetic_f32 },     { "mul.%s.ftz.f32", 3, arithmetic_f32 },
    { "mul.%s.sat.f32", 3, arithmetic_f32 }, { "mul.%s.ftz.sat.f32", 3, arithmetic_f32 },
    { "fma.%s.f32", 4, arithmetic_f32 },     { "fma.%s.ftz.f32", 4, arithmetic_f32 },
    { "fma.%s.sat.f32", 4, arithmetic_f32 }, { "fma.%s.ftz.sat.f32", 4, arithmetic_f32 },
    { "mad.%s.f32", 4, arithmetic_f32 },     { "mad.%s.ftz.f32", 4, arithmetic_f32 },
    { "div.%s.f32", 3, arithmetic_f32 },     { "div.%s.ftz.f32", 3, arithmetic_f32 },
    { "rcp.%s.f32", 2, arithmetic_f32 },     { "rcp.%s.ftz.f32", 2, arithmetic_f32 },
    { "sqrt.%s.f32", 2, arithmetic_f32 },    { "sqrt.%s.ftz.f32", 2, arithmetic_f32 },
    { "add.%s.f64", 3, arithmetic_f64 },     { "sub.%s.f64", 3, arithmetic_f64 },
    { "mul.%s.f64", 3, arithmetic_f64 },     { "div.%s.f64", 3, arithmetic_f64 },
    { "fma.%s.f64", 4, arithmetic_f64 },     { "mad.%s.f64", 4, arithmetic_f64 },
    { "rcp.%s.f64", 2, arithmetic_f64 },     { "sqrt.%s.f64", 2, arithmetic_f64 },
};

static const Trial plain[] = {
    { "copysign.f32", 3, signs_f32 }, { "copysign.f64", 3, signs_f64 },
    { "abs.f64", 2, signs_f64 },      { "neg.f64", 2, signs_f64 },
    { "min.f64", 3, signs_f64 },      { "max.f64", 3, signs_f64 },
    { "add.f64", 3, arithmetic_f64 }, { "sub.f64", 3, arithmetic_f64 },
    { "mul.f64", 3, arithmetic_f64 },
};

/* Opcodes with every combination of their mods. */
typedef struct Family {
    const char *ops;
    int operands;
    const char *mods; /* in order; `|`: one of two; `=`: required */
} Family;

static const Family families_f32[] = {
    { "add sub mul", 3, "ftz sat" },
    { "abs neg", 2, "ftz" },
    { "min max", 3, "ftz NaN xorsign.abs" },
};
static const Family families_f16[] = {
    { "add sub mul", 3, "rn ftz sat" },
    { "fma", 4, "=rn ftz sat|relu" },
    { "abs neg", 2, "ftz" },
    { "min max", 3, "ftz NaN xorsign.abs" },
};
static const Family families_bf16[] = {
    { "add sub mul", 3, "rn" },
    { "fma", 4, "=rn relu" },
    { "abs neg", 2, "" },
    { "min max", 3, "NaN xorsign.abs" },
};

typedef void TryOpcode(const char *opcode, int operands);

/* `opcode`: the text so far; `mods`: the mods still to be chosen. */
static void try_mods(const char *opcode, const char *mods, const char *type, int operands,
                     TryOpcode *attempt)
{
    char longer[80], mod[20];
    size_t length = strcspn(mods, " |");
    bool always = mods[0] == '=';
    const char *rest = mods + strcspn(mods, " ");

    if (!mods[0]) {
        snprintf(longer, sizeof longer, "%s.%s", opcode, type);
        attempt(longer, operands);
        return;
    }
    rest += *rest == ' ';
    if (!always)
        try_mods(opcode, rest, type, operands, attempt);
    snprintf(mod, sizeof mod, "%.*s", (int) length - always, mods + always);
    snprintf(longer, sizeof longer, "%s.%s", opcode, mod);
    try_mods(longer, rest, type, operands, attempt);
    if (mods[length] == '|') {
        snprintf(longer, sizeof longer, "%s.%.*s", opcode, (int) strcspn(mods + length + 1, " "),
                 mods + length + 1);
        try_mods(longer, rest, type, operands, attempt);
    }
}

static void try_families(const Family *families, size_t count, const char *type, TryOpcode *attempt)
{
    for (size_t i = 0; i < count; i++) {
        char ops[40], *rest = ops, *op;
        snprintf(ops, sizeof ops, "%s", families[i].ops);
        while ((op = strsep(&rest, " ")))
            try_mods(op, families[i].mods, type, families[i].operands, attempt);
    }
}

static void try_it(const char *opcode, const Trial *trial)
{
    bool wide = strstr(opcode, "f64");

    CU_ASSERT(rig_try(opcode, trial->operands, wide ? edges_f64 : edges_f32,
                      wide ? COUNT(edges_f64) : COUNT(edges_f32), 20000, trial->oracle));
}

static void try_f32(const char *opcode, int operands)
{
    bool arithmetic =
        !strncmp(opcode, "add", 3) || !strncmp(opcode, "sub", 3) || !strncmp(opcode, "mul", 3);

    try_it(opcode, &(Trial){ opcode, operands, arithmetic ? arithmetic_f32 : signs_f32 });
}

static void singles_and_doubles(void)
{
    for (size_t i = 0; i < COUNT(rounded); i++)
        for (size_t r = 0; r < COUNT(roundings); r++) {
            char opcode[60];
            snprintf(opcode, sizeof opcode, rounded[i].opcode, roundings[r]);
            try_it(opcode, &rounded[i]);
        }
    for (size_t i = 0; i < COUNT(plain); i++)
        try_it(plain[i].opcode, &plain[i]);
    try_families(families_f32, COUNT(families_f32), "f32", try_f32);
}

static void try_half(const char *opcode, int operands)
{
    CU_ASSERT(rig_try(opcode, operands, edges_half, COUNT(edges_half), 4000, arithmetic_half));
}

static void halves(void)
{
    try_families(families_f16, COUNT(families_f16), "f16", try_half);
    try_families(families_f16, COUNT(families_f16), "f16x2", try_half);
    try_families(families_bf16, COUNT(families_bf16), "bf16", try_half);
    try_families(families_bf16, COUNT(families_bf16), "bf16x2", try_half);
}

static uint64_t nan_f64(const Instruction *in, const uint64_t *x, bool *any)
{
    *any = true;
    for (int i = 0; i < (in->op == OP_fma ? 3 : 2); i++)
        if (isnan(f64_at(x[i]))) {
            *any = false;
            return x[i] | 1ull << 51;
        }
    return 0;
}

static void nans_of_f64_pass_through(void)
{
    CU_ASSERT(rig_try("add.f64", 3, edges_f64, COUNT(edges_f64), 0, nan_f64));
    CU_ASSERT(rig_try("fma.rn.f64", 4, edges_f64, COUNT(edges_f64), 0, nan_f64));
    CU_ASSERT(rig_try("mul.rz.f64", 3, edges_f64, COUNT(edges_f64), 0, nan_f64));
}

/* ---- Quotients, and operations that read only upper words ---- */

/* Quotients: .approx and .full within 2 ulp; .approx by more than 2^126 is 0, or NaN for
 * infinities. */
static uint64_t quotient(const Instruction *in, const uint64_t *x, bool *any)
{
    bool ftz = has_mod(in, MOD_ftz);
    float a = ftz ? flushed(float_at(x[0])) : float_at(x[0]);
    float b = ftz ? flushed(float_at(x[1])) : float_at(x[1]);

    (void) any;
    if (has_mod(in, MOD_approx) && fabsf(b) > 0x1p126f && isfinite(b))
        return isinf(a) || isnan(a) ? 0x7fffffff : bits_f32(copysignf(0, a) * copysignf(1, b));
    return bits_of_f32(ftz ? flushed(a / b) : a / b);
}

/* The upper words of f64: to 20 bits, subnormals as zeros. */
static uint64_t upper_words(const Instruction *in, const uint64_t *x, bool *any)
{
    double a = f64_at(x[0] & 0xffffffff00000000);

    if (fpclassify(a) == FP_SUBNORMAL)
        a = copysign(0, a);
    double y = in->op == OP_rcp ? 1 / a : 1 / sqrt(a);
    *any = isnan(y);
    if (fpclassify(y) == FP_SUBNORMAL)
        y = copysign(0, y);
    return bits_f64(y) & 0xffffffff00000000;
}

static uint64_t rsqrt_f64(const Instruction *in, const uint64_t *x, bool *any)
{
    double y = 1 / sqrt(f64_at(x[0]));

    (void) in;
    *any = isnan(y);
    return bits_f64(y);
}

static void quotients_and_upper_words(void)
{
    static const Trial trials[] = {
        { "div.approx.f32", 3, quotient },        { "div.approx.ftz.f32", 3, quotient },
        { "div.full.f32", 3, quotient },          { "div.full.ftz.f32", 3, quotient },
        { "rcp.approx.ftz.f64", 2, upper_words }, { "rsqrt.approx.ftz.f64", 2, upper_words },
        { "rsqrt.approx.f64", 2, rsqrt_f64 },
    };

    for (size_t i = 0; i < COUNT(trials); i++)
        try_it(trials[i].opcode, &trials[i]);
}

CU_SuiteInfo test_sim_float = {
    "sim_float",
    .pTests =
        (CU_TestInfo[]){
            { "singles and doubles", singles_and_doubles },
            { "halves", halves },
            { "NaNs of f64 pass through", nans_of_f64_pass_through },
            { "quotients and upper words", quotients_and_upper_words },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
