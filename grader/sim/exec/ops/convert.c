/* convert.c - cvt between all pairs of types.
 *
 * Frequent pairs have their own handlers; all others read a lane as an exact value (integer or
 * double), bring it into range, and round it once. On either side the type of a cvt may be narrower
 * than the register: source_size and data_size of the step give the register's width.
 */
#include "sim/exec/ops/rounding.h"

/* ---- Integers to integers: truncated to the narrower type, then extended by it ---- */

#define EXTEND(name, C)                                                                            \
    HANDLER1(name##_44, Lane32, Lane32, (uint32_t) (C) a)                                          \
    HANDLER1(name##_48, Lane64, Lane32, (uint64_t) (C) a)                                          \
    HANDLER1(name##_84, Lane32, Lane64, (uint32_t) (C) a)                                          \
    HANDLER1(name##_88, Lane64, Lane64, (uint64_t) (C) a)
EXTEND(u8, uint8_t)
EXTEND(s8, int8_t)
EXTEND(u16, uint16_t)
EXTEND(s16, int16_t)
EXTEND(u32, uint32_t)
EXTEND(s32, int32_t)
EXTEND(u64, uint64_t)

/* Indexed by type and by the lane size (4 or 8 bytes) of source and destination. */
#define EXTENSION(name)                                                                            \
    {                                                                                              \
        { RUN(name##_44), RUN(name##_48) },                                                        \
        {                                                                                          \
            RUN(name##_84), RUN(name##_88)                                                         \
        }                                                                                          \
    }
static Run *const extensions[TYPES][2][2][SIMD_LEVELS] = {
    [TYPE_U8] = EXTENSION(u8),   [TYPE_S8] = EXTENSION(s8),   [TYPE_U16] = EXTENSION(u16),
    [TYPE_S16] = EXTENSION(s16), [TYPE_U32] = EXTENSION(u32), [TYPE_S32] = EXTENSION(s32),
    [TYPE_U64] = EXTENSION(u64), [TYPE_S64] = EXTENSION(u64),
};

/* ---- Frequent pairs ---- */

/* From f64 to f32 a NaN keeps its sign and the upper bits of its payload. PTX does not define this;
 * an H200 converts 0x7ff8000000000000 to 0x7fc00000 (outputs.expected, conversions). */
INLINE uint32_t narrowed_nan(double nan)
{
    uint64_t bits = quiet_f64(nan);

    return (uint32_t) (bits >> 32 & 0x80000000u) | 0x7f800000u |
           (uint32_t) (bits >> 29 & 0x7fffffu);
}

HANDLER1(f32_s32, Lane32, Lane32, bits_f32((float) (int32_t) a))
HANDLER1(f32_u32, Lane32, Lane32, bits_f32((float) a))
HANDLER1(f32_s64, Lane32, Lane64, bits_f32((float) (int64_t) a))
HANDLER1(f32_u64, Lane32, Lane64, bits_f32((float) a))
HANDLER1(f64_s32, Lane64, Lane32, bits_f64((int32_t) a))
HANDLER1(f64_u32, Lane64, Lane32, bits_f64(a))
HANDLER1(f64_s64, Lane64, Lane64, bits_f64((double) (int64_t) a))
HANDLER1(f64_u64, Lane64, Lane64, bits_f64((double) a))
HANDLER1(f64_f32, Lane64, LaneF32, bits_f64(a))
HANDLER1(f32_f64, Lane32, LaneF64, a != a ? narrowed_nan(a) : bits_f32((float) a))
HANDLER1(f32_f16, Lane32, Lane32, result_f32((float) f16_value(a & 0xffff)))
HANDLER1(f32_bf16, Lane32, Lane32, result_f32((float) bf16_value(a & 0xffff)))
HANDLER1(f16_f32, Lane32, LaneF32, f16_nearest(a))
HANDLER1(bf16_f32, Lane32, LaneF32, bf16_nearest(a))
HANDLER2(f16x2_f32, Lane32, LaneF32, LaneF32, f16_nearest(a) << 16 | f16_nearest(b))
HANDLER2(bf16x2_f32, Lane32, LaneF32, LaneF32, bf16_nearest(a) << 16 | bf16_nearest(b))
HANDLER1(f32_sat, Lane32, LaneF32, saturate_f32(a))
HANDLER1(f32_ftz_sat, Lane32, LaneF32, saturate_f32(flush(a)))
HANDLER1(f32_flushed, Lane32, LaneF32, result_f32(flush(a)))

/* Every f32, s32 and u32 is exact as a double. NaN fails both comparisons and becomes 0. */
INLINE double within(double x, double least, double most)
{
    return x >= most ? most : x >= least ? x : x < least ? least : 0;
}

#define ROUND_HANDLERS(mod, function)                                                              \
    HANDLER1(s32_f32_##mod, Lane32, LaneF32,                                                       \
             (uint32_t) (int32_t) within(function((double) a), -0x1p31, 0x1p31 - 1))               \
    HANDLER1(u32_f32_##mod, Lane32, LaneF32,                                                       \
             (uint32_t) (int32_t) (within(function((double) a), 0, 0x1p32 - 1) - 0x1p31) ^         \
                 0x80000000u)                                                                      \
    HANDLER1(f32_f32_##mod, Lane32, LaneF32, result_f32(function##f(a)))                           \
    HANDLER1(f64_f64_##mod, Lane64, LaneF64, result_f64(function(a), a, 0, 0))
ROUND_HANDLERS(rni, rint)
ROUND_HANDLERS(rzi, trunc)
ROUND_HANDLERS(rmi, floor)
ROUND_HANDLERS(rpi, ceil)

#define ROUND_ROWS(mod)                                                                            \
    { OP_cvt, T(S32), T(F32), M(mod), RUN(s32_f32_##mod) },                                        \
        { OP_cvt, T(U32), T(F32), M(mod), RUN(u32_f32_##mod) },                                    \
        { OP_cvt, T(F32), T(F32), M(mod), RUN(f32_f32_##mod) },                                    \
        { OP_cvt, T(F64), T(F64), M(mod), RUN(f64_f64_##mod) },

static const Row rows[] = {
    /* clang-format off */
    ROUND_ROWS(rni)
    ROUND_ROWS(rzi)
    ROUND_ROWS(rmi)
    ROUND_ROWS(rpi)
    { OP_cvt, T(F32), T(S32), M(rn), RUN(f32_s32) },
    { OP_cvt, T(F32), T(U32), M(rn), RUN(f32_u32) },
    { OP_cvt, T(F32), T(S64), M(rn), RUN(f32_s64) },
    { OP_cvt, T(F32), T(U64), M(rn), RUN(f32_u64) },
    { OP_cvt, T(F64), T(S32), M(rn), RUN(f64_s32) },
    { OP_cvt, T(F64), T(U32), M(rn), RUN(f64_u32) },
    { OP_cvt, T(F64), T(S64), M(rn), RUN(f64_s64) },
    { OP_cvt, T(F64), T(U64), M(rn), RUN(f64_u64) },
    { OP_cvt, T(F64), T(F32), 0, RUN(f64_f32) },
    { OP_cvt, T(F32), T(F64), M(rn), RUN(f32_f64) },
    { OP_cvt, T(F32), T(F16), 0, RUN(f32_f16) },
    { OP_cvt, T(F32), T(BF16), 0, RUN(f32_bf16) },
    { OP_cvt, T(F16), T(F32), M(rn), RUN(f16_f32) },
    { OP_cvt, T(BF16), T(F32), M(rn), RUN(bf16_f32) },
    { OP_cvt, T(F16X2), T(F32), M(rn), RUN(f16x2_f32) },
    { OP_cvt, T(BF16X2), T(F32), M(rn), RUN(bf16x2_f32) },
    { OP_cvt, T(F32), T(F32), M(sat), RUN(f32_sat) },
    { OP_cvt, T(F32), T(F32), M(sat) | M(ftz), RUN(f32_ftz_sat) },
    { OP_cvt, T(F32), T(F32), M(ftz), RUN(f32_flushed) },
    /* clang-format on */
};

/* ---- Any pair: reading ---- */

static int lane_bytes(int said, PtxType type)
{
    return said ? said : type_size(type) == 8 ? 8 : 4;
}

static uint64_t bits_at(const void *at, int bytes, uint32_t i)
{
    return bytes == 8 ? ((const Lane64 *) at)[i] : ((const Lane32 *) at)[i];
}

static double float_of(const Step *step, PtxType type, uint64_t bits)
{
    switch (type) {
    case TYPE_F16:
        return f16_value((uint32_t) bits & 0xffff);
    case TYPE_BF16:
        return bf16_value((uint32_t) bits & 0xffff);
    case TYPE_F32:
        return step->ftz ? flush(f32_bits((uint32_t) bits)) : f32_bits((uint32_t) bits);
    default:
        return f64_bits(bits);
    }
}

/* An integer of the type; bits above it are ignored. */
static __int128 integer_of(PtxType type, uint64_t bits)
{
    int shift = 64 - 8 * type_size(type);

    return type_is_signed(type) ? (__int128) ((int64_t) (bits << shift) >> shift)
                                : (__int128) (bits << shift >> shift);
}

/* ---- Any pair: writing ---- */

static __int128 least_of(PtxType type)
{
    return type_is_signed(type) ? -((__int128) 1 << (8 * type_size(type) - 1)) : 0;
}

static __int128 most_of(PtxType type)
{
    return ((__int128) 1 << (8 * type_size(type) - type_is_signed(type))) - 1;
}

static __int128 into_range(PtxType type, __int128 x)
{
    return x < least_of(type) ? least_of(type) : x > most_of(type) ? most_of(type) : x;
}

static const Format *format_of(PtxType type)
{
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2:
        return &format_f16;
    case TYPE_BF16:
    case TYPE_BF16X2:
        return &format_bf16;
    case TYPE_F32:
        return &format_f32;
    default:
        return &format_f64;
    }
}

static uint64_t nan_of(const Step *step, PtxType type, double nan)
{
    if (type == TYPE_F64)
        return quiet_f64(nan);
    if (type == TYPE_F32)
        return step->in->types[1] == TYPE_F64 ? narrowed_nan(nan) : NAN_F32;
    return NAN_F16;
}

static uint64_t largest(const Format *format)
{
    return ((((uint64_t) 1 << format->exponent_bits) - 1) << (format->precision - 1)) - 1;
}

/* Final changes to the bits of a float: subnormals of .ftz, infinities of .satfinite. */
static uint64_t finish(const Step *step, PtxType type, uint64_t bits)
{
    const Format *format = format_of(type);
    uint64_t sign = (uint64_t) 1 << (format->precision - 1 + format->exponent_bits);

    if (type == TYPE_F32 && step->ftz)
        return bits_f32(flush(f32_bits((uint32_t) bits)));
    if ((bits & (sign - 1)) > largest(format) && has_mod(step->in, MOD_satfinite))
        return (bits & sign) | largest(format);
    return bits;
}

static double round_whole(double x, uint8_t rounding)
{
    switch (rounding) {
    case MOD_rni:
        return rint(x);
    case MOD_rzi:
        return trunc(x);
    case MOD_rmi:
        return floor(x);
    case MOD_rpi:
        return ceil(x);
    default:
        return x;
    }
}

static uint64_t float_to_float(const Step *step, PtxType type, double x)
{
    x = round_whole(x, step->rounding);
    if (step->sat)
        x = !(x > 0) ? 0 : x > 1 ? 1 : x;
    if (x != x)
        return nan_of(step, type, x);
    if (!(x > 0) && has_mod(step->in, MOD_relu))
        x = 0;
    return finish(step, type, round_f64(x, *format_of(type), step->rounding));
}

/* NaN becomes 0 from f32 to at most 32 bits, else the top bit alone, as PTX defines. */
static __int128 float_to_integer(const Step *step, PtxType type, double x)
{
    int bytes = type_size(type);

    x = round_whole(x, step->rounding);
    if (x != x)
        return step->type2 == TYPE_F64 || bytes == 8 ? (__int128) 1 << (8 * bytes - 1) : 0;
    if (fabs(x) >= 0x1p70)
        return x < 0 ? least_of(type) : most_of(type);
    return into_range(type, (__int128) x);
}

static uint64_t integer_to_float(const Step *step, PtxType type, __int128 x)
{
    uint64_t magnitude = (uint64_t) (x < 0 ? -x : x);

    if (step->sat)
        magnitude = x > 0, x = 0;
    return finish(step, type, round_integer(x < 0, magnitude, *format_of(type), step->rounding));
}

/* One value of type2, converted to type, as stored in the destination register. */
static uint64_t converted(const Step *step, PtxType type, uint64_t bits)
{
    bool from_float = type_is_float(step->type2), to_float = type_is_float(type);

    if (from_float && to_float)
        return float_to_float(step, type, float_of(step, step->type2, bits));
    if (from_float)
        return (uint64_t) integer_of(
            type, (uint64_t) float_to_integer(step, type, float_of(step, step->type2, bits)));
    if (to_float)
        return integer_to_float(step, type, integer_of(step->type2, bits));
    __int128 x = integer_of(step->type2, bits);
    return (uint64_t) integer_of(type, (uint64_t) (step->sat ? into_range(type, x) : x));
}

static void put_lane(void *d, int bytes, uint32_t i, uint64_t bits)
{
    if (bytes == 8)
        ((Lane64 *) d)[i] = bits;
    else
        ((Lane32 *) d)[i] = (uint32_t) bits;
}

static void convert_any(Warp *warp, const Step *step, uint32_t mask)
{
    const void *a = plane(warp, step->a);
    void *d = plane(warp, step->d);
    int from = lane_bytes(step->convert.source_size, step->type2);
    int to = lane_bytes(step->data_size, step->type);

    FOR_LANES (i, mask)
        put_lane(d, to, i, converted(step, step->type, bits_at(a, from, i)));
}

/* ---- Pairs of 8-bit floats: e4m3 has no infinity, e5m2 is the upper half of f16 ---- */

static double fp8_value(PtxType type, uint32_t bits)
{
    const int wide = type == TYPE_E4M3X2 ? 3 : 2, bias = type == TYPE_E4M3X2 ? 7 : 15;
    const int exponent = (int) (bits >> wide) & (2 * bias + 1),
              part = (int) bits & ((1 << wide) - 1);
    const bool special = type == TYPE_E4M3X2 ? (bits & 0x7f) == 0x7f : exponent == 31;
    const double magnitude =
        exponent ? ldexp((1 << wide) + part, exponent - bias - wide) : ldexp(part, 1 - bias - wide);

    if (special)
        return type == TYPE_E4M3X2 || part ? NAN : bits & 0x80 ? -INFINITY : INFINITY;
    return bits & 0x80 ? -magnitude : magnitude;
}

/* The nearest finite number, of two the one whose bits are even; .satfinite is always given. */
static uint32_t fp8_nearest(PtxType type, double x, bool relu)
{
    const uint32_t most = type == TYPE_E4M3X2 ? 0x7e : 0x7b, sign = signbit(x) ? 0x80 : 0;
    uint32_t low = 0, high = most;

    if (x != x)
        return 0x7f;
    if (relu && sign)
        return 0;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (fp8_value(type, middle) <= fabs(x))
            low = middle;
        else
            high = middle;
    }
    const double below = fabs(x) - fp8_value(type, low), above = fp8_value(type, high) - fabs(x);
    return sign | (above < below || (above == below && low & 1) ? high : low);
}

static void to_fp8_from_f32(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const LaneF32 *a = plane(warp, step->a), *b = plane(warp, step->b);
    const bool relu = has_mod(step->in, MOD_relu);

    FOR_LANES (i, mask)
        d[i] = fp8_nearest((PtxType) step->type, a[i], relu) << 8 |
               fp8_nearest((PtxType) step->type, b[i], relu);
}

static void to_fp8_from_f16(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a);
    const bool relu = has_mod(step->in, MOD_relu);

    FOR_LANES (i, mask)
        d[i] = fp8_nearest((PtxType) step->type, f16_value(a[i] >> 16), relu) << 8 |
               fp8_nearest((PtxType) step->type, f16_value(a[i] & 0xffff), relu);
}

static uint32_t f16_of_fp8(PtxType type, uint32_t bits, bool relu)
{
    const double x = fp8_value(type, bits & 0xff);

    return relu && !(x > 0) && x == x ? 0 : f16_nearest(x);
}

static void from_fp8(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a);
    const PtxType type = (PtxType) step->type2;
    const bool relu = has_mod(step->in, MOD_relu);

    FOR_LANES (i, mask)
        d[i] = f16_of_fp8(type, a[i] >> 8, relu) << 16 | f16_of_fp8(type, a[i], relu);
}

/* ---- Packed results: cvt.rz.f16x2.f32 and similar forms, cvt.pack; tf32 ---- */

static void convert_pair(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a), *b = plane(warp, step->b);
    PtxType one = step->type == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;

    FOR_LANES (i, mask)
        d[i] = (uint32_t) (converted(step, one, a[i]) << 16 | converted(step, one, b[i]));
}

/* The lower bits hold a and b, saturated; the bits above them come from the lower bits of c. */
static void convert_pack(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a), *b = plane(warp, step->b);
    int bits = 8 * type_size(step->type);
    const Lane32 *c = bits < 16 ? plane(warp, step->c) : a;
    uint32_t low = (1u << bits) - 1;

    FOR_LANES (i, mask) {
        uint32_t upper = (uint32_t) into_range(step->type, integer_of(step->type2, a[i])) & low;
        uint32_t lower = (uint32_t) into_range(step->type, integer_of(step->type2, b[i])) & low;
        d[i] = (bits < 16 ? c[i] << 2 * bits : 0) | upper << bits | lower;
    }
}

static void convert_tf32(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    const LaneF32 *a = plane(warp, step->a);
    bool relu = has_mod(step->in, MOD_relu);

    FOR_LANES (i, mask) {
        float x = relu && a[i] <= 0 ? 0 : a[i];
        d[i] = x != x ? NAN_F32 : (uint32_t) round_f64(x, format_tf32, step->rounding) << 13;
    }
}

/* ---- Binding ---- */

static const ModSet roundings = M(rn) | M(rz) | M(rm) | M(rp) | M(rni) | M(rzi) | M(rmi) | M(rpi);
static const uint32_t integers =
    T(U8) | T(S8) | T(U16) | T(S16) | T(U32) | T(S32) | T(U64) | T(S64);
static const uint32_t floats = T(F16) | T(BF16) | T(F32) | T(F64);

static bool text_has(const Instruction *in, const char *word)
{
    int length = (int) strlen(word);

    for (int at = 0; at + length <= in->text.length; at++)
        if (!memcmp(in->text.at + at, word, (size_t) length))
            return true;
    return false;
}

/* Words that are neither types nor mods are found in the text of the opcode. */
static bool bind_other(Step *step, const Instruction *in)
{
    ModSet mods = mods_of(in) & ~M(other);

    if (in->type_count < 2 || in->types[1] != TYPE_S32 || mods != M(sat) || !text_has(in, ".pack."))
        return false;
    uint32_t types = in->type_count == 3 ? T(U8) | T(S8) : T(U16) | T(S16);
    if (!(types >> in->types[0] & 1))
        return false;
    fill_step(step, in);
    step->run = convert_pack;
    return true;
}

static bool bind_tf32(Step *step, const Instruction *in)
{
    if (in->types[0] != TYPE_TF32 || in->types[1] != TYPE_F32 ||
        mods_of(in) & ~(M(rna) | M(rn) | M(rz) | M(relu) | M(satfinite)))
        return false;
    fill_step(step, in);
    step->run = convert_tf32;
    return true;
}

static bool is_fp8_pair(PtxType type)
{
    return type == TYPE_E4M3X2 || type == TYPE_E5M2X2;
}

static bool bind_fp8(Step *step, const Instruction *in)
{
    const PtxType to = in->types[0], from = in->types[1];

    if (mods_of(in) & ~(M(rn) | M(satfinite) | M(relu)))
        return false;
    if (is_fp8_pair(to) && from == TYPE_F32 && in->count == 3)
        step->run = to_fp8_from_f32;
    else if (is_fp8_pair(to) && from == TYPE_F16X2)
        step->run = to_fp8_from_f16;
    else if (is_fp8_pair(from) && to == TYPE_F16X2)
        step->run = from_fp8;
    else
        return false;
    fill_step(step, in);
    return true;
}

static bool bind_pair(Step *step, const Instruction *in)
{
    const ModSet allowed = M(rn) | M(rz) | M(relu) | M(satfinite);

    if ((in->types[0] != TYPE_F16X2 && in->types[0] != TYPE_BF16X2) || in->types[1] != TYPE_F32 ||
        mods_of(in) & ~allowed)
        return false;
    fill_step(step, in);
    step->run = convert_pair;
    return true;
}

/* Binds conversions between integers without .sat that only truncate and extend by one type. */
static bool bind_extension(Step *step, const Instruction *in)
{
    PtxType to = in->types[0], from = in->types[1];
    PtxType by = type_size(to) <= type_size(from) ? to : from;
    int source = lane_bytes(step->convert.source_size, from) == 8,
        data = lane_bytes(step->data_size, to) == 8;

    if (by == from && type_is_signed(from) && !type_is_signed(to) &&
        type_size(to) < lane_bytes(step->data_size, to))
        return false; /* cvt.u16.s8: sign-extended to 16 bits, then zero-extended */
    fill_step(step, in);
    step->run = extensions[by][source][data][simd_now()];
    return true;
}

static bool bind_any(Step *step, const Instruction *in)
{
    uint32_t to = 1u << in->types[0], from = 1u << in->types[1];
    ModSet mods = mods_of(in);

    if (!((integers | floats) & to) || !((integers | floats) & from) ||
        mods & ~(roundings | M(ftz) | M(sat) | M(relu) | M(satfinite)))
        return false;
    if ((integers & to) && (integers & from) && !mods && bind_extension(step, in))
        return true;
    fill_step(step, in);
    step->run = convert_any;
    return true;
}

static bool has_plain_registers(const Step *step, const Instruction *in)
{
    return (!step->convert.source_size ||
            step->convert.source_size == lane_bytes(0, in->types[1])) &&
           (!step->data_size || step->data_size == lane_bytes(0, in->types[0]));
}

bool bind_convert(Step *step, const Instruction *in)
{
    if (in->op != OP_cvt)
        return false;
    if (has_mod(in, MOD_other))
        return bind_other(step, in);
    if (in->type_count != 2)
        return false;
    return (has_plain_registers(step, in) && BIND(step, in, rows, 0)) || bind_pair(step, in) ||
           bind_tf32(step, in) || bind_fp8(step, in) || bind_any(step, in);
}
