/* tensor.c - matrices in the registers of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix.
 *
 * The elements of a matrix are dealt to the lanes as the PTX ISA shows for mma (sm_80): in cells of
 * 8 rows by 4 registers, where lane l holds row l / 4 and register l % 4; a register has one to
 * four elements of the row. Cells below each other come first. The second factor is dealt by
 * columns. PTX leaves the fragments of wmma open; they are dealt in the same way here, as ptxas
 * does. Where a fragment has more registers than that, the elements repeat.
 *
 * Products are exact; their sum is computed in double precision and rounded to nearest once. Tensor
 * cores truncate intermediate sums instead, in ways that differ between architectures, so the last
 * bits may differ from a GPU's. Sums of integers are exact, and those of f64 are chains of fma.
 */
#include "sim/exec/access.h"
#include "sim/exec/ops/rounding.h"
#include "sim/exec/warp.h"

#include <math.h>

enum { MOST_SIDE = 32, REGISTER_BYTES = 4 };

/* How a matrix is dealt to the lanes. The second factor's columns count as rows here. */
typedef struct Dealt {
    int rows, columns;
    int width;       /* elements of a row that a lane holds side by side */
    int in_register; /* elements per register */
    int bytes;       /* per element */
} Dealt;

typedef struct Matrix {
    double at[MOST_SIDE][MOST_SIDE];
} Matrix;

/* ---- Where an element is ---- */

static int elements_of(const Dealt *dealt)
{
    return dealt->rows * dealt->columns / LANES;
}

static void find_element(const Dealt *dealt, int lane, int element, int *row, int *column)
{
    const int cell = element / dealt->width, down = dealt->rows / 8;

    *row = cell % down * 8 + lane / 4;
    *column = (cell / down * 4 + lane % 4) * dealt->width + element % dealt->width;
}

static bool is_accumulator(Mod matrix)
{
    return matrix == MOD_c || matrix == MOD_d;
}

static Dealt dealt_as(const Step *step, Mod matrix, PtxType type)
{
    const int bytes = type_size(type), m = step->tensor.m, n = step->tensor.n, k = step->tensor.k;
    const int packed = bytes < REGISTER_BYTES ? REGISTER_BYTES / bytes : 1;
    const bool sums = is_accumulator(matrix);

    return (Dealt){ .rows = matrix == MOD_b ? n : m,
                    .columns = sums ? n : k,
                    .width = sums ? 2 : packed,
                    .in_register = packed,
                    .bytes = bytes };
}

/* ---- Values ---- */

static double value_of(PtxType type, uint64_t bits)
{
    switch (type) {
    case TYPE_F16:
        return f16_value((uint32_t) bits & 0xffff);
    case TYPE_BF16:
        return bf16_value((uint32_t) bits & 0xffff);
    case TYPE_TF32:
        return f32_bits((uint32_t) bits & 0xffffe000u);
    case TYPE_F32:
        return f32_bits((uint32_t) bits);
    case TYPE_F64:
        return f64_bits(bits);
    case TYPE_S8:
        return (int8_t) bits;
    case TYPE_U8:
        return (uint8_t) bits;
    default:
        return (int32_t) bits;
    }
}

static uint64_t integer_bits(double sum, bool saturates)
{
    const int64_t whole = (int64_t) sum;

    if (saturates)
        return (uint32_t) (whole < INT32_MIN ? INT32_MIN : whole > INT32_MAX ? INT32_MAX : whole);
    return (uint32_t) whole;
}

static uint64_t bits_of(PtxType type, double sum, bool saturates)
{
    switch (type) {
    case TYPE_F16:
        return f16_nearest(sum);
    case TYPE_F32:
        return result_f32((float) sum);
    case TYPE_F64:
        return result_f64(sum, sum, 0, 0);
    default:
        return integer_bits(sum, saturates);
    }
}

static void *fragment_plane(Warp *warp, const Step *step, int which, int i)
{
    return plane(warp, warp->code->fragments[step->tensor.first[which] + i]);
}

static uint64_t element_bits(Warp *warp, const Step *step, int which, const Dealt *dealt, int lane,
                             int element)
{
    const int shift = element % dealt->in_register * dealt->bytes * 8;
    const void *from = fragment_plane(warp, step, which, element / dealt->in_register);

    if (dealt->bytes == 8)
        return ((const Lane64 *) from)[lane];
    return ((const Lane32 *) from)[lane] >> shift;
}

/* Sets an element and its repetitions. */
static void set_element(Warp *warp, const Step *step, int which, const Dealt *dealt, int lane,
                        int element, uint64_t bits)
{
    const int shift = element % dealt->in_register * dealt->bytes * 8;
    const uint32_t part = dealt->bytes >= 4 ? UINT32_MAX : (1u << dealt->bytes * 8) - 1;
    const int all = elements_of(dealt) / dealt->in_register;

    for (int i = element / dealt->in_register; i < step->tensor.count[which]; i += all) {
        void *to = fragment_plane(warp, step, which, i);
        Lane32 *word = (Lane32 *) to + lane;
        if (dealt->bytes == 8)
            ((Lane64 *) to)[lane] = bits;
        else
            *word = (*word & ~(part << shift)) | ((uint32_t) bits & part) << shift;
    }
}

/* ---- The lanes ---- */

/* All lanes of the warp must execute these instructions together. */
static void check_lanes(Warp *warp, const Step *step, uint32_t mask)
{
    char missing[100];

    OBSERVE(warp->block->launch, warp_sync, warp, mask);
    if (mask == ALL_LANES)
        return;
    describe_lanes(~mask, missing, sizeof missing);
    warn(warp, step, first_lane(mask), FINDING_SHUFFLE,
         "all 32 lanes of a warp must execute this together, without %s it is undefined", missing);
}

/* ---- mma ---- */

static void gather(Warp *warp, const Step *step, int which, Mod matrix, PtxType type, Matrix *to)
{
    const Dealt dealt = dealt_as(step, matrix, type);
    const int elements = elements_of(&dealt);
    int row, column;

    for (int e = 0; e < elements; e++)
        for (int lane = 0; lane < LANES; lane++) {
            find_element(&dealt, lane, e, &row, &column);
            const double value = value_of(type, element_bits(warp, step, which, &dealt, lane, e));
            if (matrix == MOD_b) /* by rows, so that the loop over its columns is vectorised */
                to->at[column][row] = value;
            else
                to->at[row][column] = value;
        }
}

static void multiply(const Step *step, const Matrix *a, const Matrix *b, Matrix *sum, bool fused)
{
    for (int i = 0; i < step->tensor.m; i++)
        for (int j = 0; j < step->tensor.k; j++) {
            const double factor = a->at[i][j];
            for (int n = 0; n < step->tensor.n; n++)
                sum->at[i][n] = fused ? fma(factor, b->at[j][n], sum->at[i][n])
                                      : sum->at[i][n] + factor * b->at[j][n];
        }
}

/* The types of d, a, b and c: wmma names only those of d and c if a and b are f16. */
static void operand_types(const Instruction *in, PtxType types[4])
{
    const bool named = in->type_count == 4;

    types[0] = in->types[0];
    types[1] = named ? in->types[1] : TYPE_F16;
    types[2] = named ? in->types[2] : TYPE_F16;
    types[3] = named ? in->types[3] : in->types[1];
}

static void run_mma(Warp *warp, const Step *step, uint32_t mask)
{
    static _Thread_local Matrix a, b, sum;
    PtxType types[4];
    int row, column;

    check_lanes(warp, step, mask);
    operand_types(step->in, types);
    gather(warp, step, 1, MOD_a, types[1], &a);
    gather(warp, step, 2, MOD_b, types[2], &b);
    gather(warp, step, 3, MOD_c, types[3], &sum);
    multiply(step, &a, &b, &sum, types[0] == TYPE_F64);
    const Dealt dealt = dealt_as(step, MOD_d, types[0]);
    for (int e = 0; e < elements_of(&dealt); e++)
        FOR_LANES (lane, mask) {
            find_element(&dealt, (int) lane, e, &row, &column);
            set_element(warp, step, 0, &dealt, (int) lane, e,
                        bits_of(types[0], sum.at[row][column], has_mod(step->in, MOD_satfinite)));
        }
}

/* ---- wmma.load, wmma.store ---- */

static void begin(Access *x, Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    x->warp = warp;
    x->step = step;
    x->mask = mask;
    x->space = (Space) step->space;
    x->kind = kind;
    x->strong = x->release = false;
    x->value = NULL;
}

/* The elements of the matrix between two rows (row-major) or columns in memory. */
static uint32_t stride_of(Warp *warp, const Step *step, int lane)
{
    const int slot = step->class_ == CLASS_STORE ? step->c : step->b;
    const Mod matrix = (Mod) step->tensor.matrix;
    const int m = step->tensor.m, n = step->tensor.n, k = step->tensor.k;

    if (slot != -1)
        return ((const Lane32 *) plane(warp, slot))[lane];
    if (matrix == MOD_a)
        return (uint32_t) (step->tensor.column ? m : k);
    if (matrix == MOD_b)
        return (uint32_t) (step->tensor.column ? k : n);
    return (uint32_t) (step->tensor.column ? m : n);
}

/* The offset in memory of the lane's element, in bytes. */
static uint64_t offset_of(Warp *warp, const Step *step, const Dealt *dealt, int lane, int element)
{
    const bool by_columns = (step->tensor.matrix == MOD_b) != step->tensor.column;
    int row, column;

    find_element(dealt, lane, element, &row, &column);
    const int line = by_columns ? column : row, place = by_columns ? row : column;
    return ((uint64_t) line * stride_of(warp, step, lane) + (uint64_t) place) *
           (uint64_t) dealt->bytes;
}

/* Elements that one access of a lane moves: a whole register if its elements are neighbours. */
static int elements_together(const Step *step, const Dealt *dealt)
{
    const bool by_columns = (step->tensor.matrix == MOD_b) != step->tensor.column;

    return by_columns ? 1 : dealt->in_register;
}

static void move_lanes(const Access *x, const Step *step, const Dealt *dealt, int element)
{
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        char *at = x->host + (ptrdiff_t) x->delta[lane];
        for (int i = 0; i < x->bytes / dealt->bytes; i++, at += dealt->bytes) {
            uint64_t bits = 0;
            if (x->kind == ACCESS_STORE)
                bits = element_bits(x->warp, step, 0, dealt, lane, element + i);
            else
                memcpy(&bits, at, (size_t) dealt->bytes);
            if (x->kind == ACCESS_STORE)
                memcpy(at, &bits, (size_t) dealt->bytes);
            else
                set_element(x->warp, step, 0, dealt, lane, element + i, bits);
        }
    }
}

/* Moves some elements of each lane. Returns false if a finding was reported. */
static bool move_elements(Warp *warp, const Step *step, uint32_t mask, const Dealt *dealt,
                          int element)
{
    const AccessKind kind = step->class_ == CLASS_STORE ? ACCESS_STORE : ACCESS_LOAD;
    Access x;

    begin(&x, warp, step, mask, kind);
    x.bytes = elements_together(step, dealt) * dealt->bytes;
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    for (int lane = 0; lane < LANES; lane++)
        x.address[lane] += offset_of(warp, step, dealt, lane, element);
    while (mask) {
        if (step->space == SPACE_GENERIC)
            access_split(&x, mask);
        if (!access_open(&x))
            return false;
        move_lanes(&x, step, dealt, element);
        mask &= ~x.mask;
    }
    return true;
}

static void run_move(Warp *warp, const Step *step, uint32_t mask)
{
    const Dealt dealt = dealt_as(step, (Mod) step->tensor.matrix, step->in->types[0]);
    const int together = elements_together(step, &dealt);

    check_lanes(warp, step, mask);
    for (int e = 0; e < elements_of(&dealt); e += together)
        if (!move_elements(warp, step, mask, &dealt, e))
            return;
}

/* ---- ldmatrix, stmatrix, movmatrix: matrices of 8 rows with 16 bytes ---- */

enum { ROW_BYTES = 16, ROWS = 8 };

/* The rows of matrix i are at the addresses of lanes 8 * i and following. */
static bool open_rows(Access *x, Warp *warp, const Step *step, AccessKind kind)
{
    const int rows = ROWS * step->tensor.count[0];

    begin(x, warp, step, rows == LANES ? ALL_LANES : (1u << rows) - 1, kind);
    x->bytes = ROW_BYTES;
    access_addresses(x->address, warp, step->a, step->address_size, step->offset);
    if (step->space == SPACE_GENERIC && access_split(x, x->mask) != x->mask)
        return false;
    return access_open(x);
}

/* Where the i-th half of a lane's register is in its matrix. */
static int half_at(int lane, int i, bool transposed, int *row)
{
    *row = transposed ? lane % 4 * 2 + i : lane / 4;
    return transposed ? lane / 4 : lane % 4 * 2 + i;
}

static char *half_of(const Access *x, const Step *step, int matrix, int lane, int i)
{
    int row, column = half_at(lane, i, step->tensor.column, &row);

    return x->host + (ptrdiff_t) x->delta[matrix * ROWS + row] + 2 * column;
}

static void run_matrices(Warp *warp, const Step *step, uint32_t mask)
{
    const bool stores = step->in->op == OP_stmatrix;
    Access x;

    check_lanes(warp, step, mask);
    if (!open_rows(&x, warp, step, stores ? ACCESS_STORE : ACCESS_LOAD))
        return;
    for (int matrix = 0; matrix < step->tensor.count[0]; matrix++) {
        Lane32 *words = fragment_plane(warp, step, 0, matrix);
        FOR_LANES (lane, mask)
            for (int i = 0; i < 2; i++) {
                char *at = half_of(&x, step, matrix, (int) lane, i);
                uint16_t half = (uint16_t) (words[lane] >> 16 * i);
                if (stores)
                    memcpy(at, &half, sizeof half);
                else
                    memcpy(&half, at, sizeof half);
                words[lane] = (words[lane] & ~(0xffffu << 16 * i)) | (uint32_t) half << 16 * i;
            }
    }
}

static void run_movmatrix(Warp *warp, const Step *step, uint32_t mask)
{
    uint16_t halves[ROWS][ROWS];
    Lane32 *d = plane(warp, step->d);
    const Lane32 *a = plane(warp, step->a);
    int row, column;

    check_lanes(warp, step, mask);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 2; i++) {
            column = half_at(lane, i, false, &row);
            halves[column][row] = (uint16_t) (a[lane] >> 16 * i);
        }
    FOR_LANES (lane, mask) {
        column = half_at((int) lane, 0, false, &row);
        d[lane] = halves[row][column] | (uint32_t) halves[row][column + 1] << 16;
    }
}

/* ---- Binding ---- */

static const struct {
    Mod mod;
    uint8_t m, n, k;
} shapes[] = {
    { MOD_m16n16k16, 16, 16, 16 }, { MOD_m8n32k16, 8, 32, 16 }, { MOD_m32n8k16, 32, 8, 16 },
    { MOD_m16n16k8, 16, 16, 8 },   { MOD_m8n8k4, 8, 8, 4 },     { MOD_m8n8k16, 8, 8, 16 },
    { MOD_m16n8k4, 16, 8, 4 },     { MOD_m16n8k8, 16, 8, 8 },   { MOD_m16n8k16, 16, 8, 16 },
    { MOD_m16n8k32, 16, 8, 32 },
};

static bool find_shape(Step *step, const Instruction *in)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (has_mod(in, shapes[i].mod)) {
            step->tensor.m = shapes[i].m;
            step->tensor.n = shapes[i].n;
            step->tensor.k = shapes[i].k;
            return true;
        }
    return false;
}

/* Whether the registers hold each of the lane's elements, once or repeated. */
static bool fits(const Step *step, int which, Mod matrix, PtxType type)
{
    const Dealt dealt = dealt_as(step, matrix, type);
    const int held = step->tensor.count[which] * dealt.in_register, elements = elements_of(&dealt);

    return elements && elements % dealt.in_register == 0 && dealt.columns >= 4 * dealt.width &&
           held % elements == 0 && held && step->tensor.bytes[which] == (dealt.bytes == 8 ? 8 : 4);
}

static bool is_sum_of(PtxType sum, PtxType factor)
{
    switch (factor) {
    case TYPE_F16:
        return sum == TYPE_F16 || sum == TYPE_F32;
    case TYPE_BF16:
    case TYPE_TF32:
        return sum == TYPE_F32;
    case TYPE_F64:
        return sum == TYPE_F64;
    case TYPE_S8:
    case TYPE_U8:
        return sum == TYPE_S32;
    default:
        return false;
    }
}

static bool bind_mma(Step *step, const Instruction *in)
{
    static const Mod matrices[] = { MOD_d, MOD_a, MOD_b, MOD_c };
    PtxType types[4];

    if (in->type_count != 4 && (in->op != OP_wmma || in->type_count != 2))
        return false;
    operand_types(in, types);
    if (!is_sum_of(types[0], types[1]) || !is_sum_of(types[3], types[2]))
        return false;
    /* Volta's own: its fragments are dealt differently. */
    if (in->op == OP_mma && has_mod(in, MOD_m8n8k4) && types[1] != TYPE_F64)
        return false;
    if (in->op == OP_mma && (!has_mod(in, MOD_row) || !has_mod(in, MOD_col)))
        return false;
    for (int i = 0; i < 4; i++)
        if (!fits(step, i, matrices[i], types[i]))
            return false;
    step->run = run_mma;
    return true;
}

static bool bind_fragment(Step *step, const Instruction *in)
{
    static const Mod matrices[] = { MOD_a, MOD_b, MOD_c, MOD_d };

    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        if (has_mod(in, matrices[i]))
            step->tensor.matrix = (uint8_t) matrices[i];
    step->tensor.column = has_mod(in, MOD_col);
    step->run = run_move;
    return step->tensor.matrix && in->type_count == 1 &&
           (in->space == SPACE_GENERIC || in->space == SPACE_GLOBAL || in->space == SPACE_SHARED) &&
           fits(step, 0, (Mod) step->tensor.matrix, in->types[0]);
}

static bool bind_matrices(Step *step, const Instruction *in)
{
    const int count = has_mod(in, MOD_x1)   ? 1
                      : has_mod(in, MOD_x2) ? 2
                      : has_mod(in, MOD_x4) ? 4
                                            : 0;

    step->tensor.column = has_mod(in, MOD_trans);
    step->run = run_matrices;
    return has_mod(in, MOD_m8n8) && count == step->tensor.count[0] && count &&
           step->tensor.bytes[0] == 4 && in->types[0] == TYPE_B16 &&
           (in->space == SPACE_SHARED || in->space == SPACE_GENERIC);
}

bool bind_tensor(Step *step, const Instruction *in)
{
    if (has_mod(in, MOD_other) || !has_mod(in, MOD_sync))
        return false;
    switch (in->op) {
    case OP_wmma:
        return find_shape(step, in) &&
               (has_mod(in, MOD_mma) ? bind_mma(step, in) : bind_fragment(step, in));
    case OP_mma:
        return find_shape(step, in) && bind_mma(step, in);
    case OP_ldmatrix:
    case OP_stmatrix:
        return bind_matrices(step, in);
    case OP_movmatrix:
        step->run = run_movmatrix;
        return has_mod(in, MOD_m8n8) && has_mod(in, MOD_trans) && in->types[0] == TYPE_B16;
    default:
        return false;
    }
}
