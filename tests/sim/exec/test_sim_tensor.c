/* test_sim_tensor.c - matrices in registers, compared with sums computed here. */
#define MOST_SNIPPETS 60
#include "base/util.h"
#include "rows.h"
#include "sim/exec/ops/rounding.h"
#include "sim/sim_launch.h"

enum { SIDE = 32, TEXT = 60000 };

/* ---- wmma: the result does not depend on how fragments are dealt ---- */

typedef struct Case {
    const char *shape;
    int m, n, k;
    const char *factor, *sum; /* types */
    int a_registers, b_registers, c_registers;
    const char *a_layout, *b_layout, *c_layout, *flags;
} Case;

static const Case cases[] = {
    { "m16n16k16", 16, 16, 16, "f16", "f32", 8, 8, 8, "row", "col", "row", "" },
    { "m16n16k16", 16, 16, 16, "f16", "f32", 8, 8, 8, "col", "row", "col", "" },
    { "m16n16k16", 16, 16, 16, "f16", "f16", 8, 8, 4, "row", "row", "row", "" },
    { "m8n32k16", 8, 32, 16, "f16", "f32", 8, 8, 8, "row", "row", "row", "" },
    { "m32n8k16", 32, 8, 16, "f16", "f16", 8, 8, 4, "col", "col", "col", "" },
    { "m16n16k16", 16, 16, 16, "bf16", "f32", 4, 4, 8, "row", "row", "row", "" },
    { "m8n32k16", 8, 32, 16, "bf16", "f32", 2, 8, 8, "col", "row", "row", "" },
    { "m16n16k8", 16, 16, 8, "tf32", "f32", 4, 4, 8, "row", "col", "row", "" },
    { "m16n16k16", 16, 16, 16, "s8", "s32", 2, 2, 8, "row", "col", "row", "" },
    { "m32n8k16", 32, 8, 16, "u8", "s32", 4, 1, 8, "row", "row", "col", ".satfinite" },
    { "m8n8k4", 8, 8, 4, "f64", "f64", 1, 1, 2, "row", "col", "row", "" },
};

static int bytes_of(const char *type)
{
    return !strcmp(type, "f64")                   ? 8
           : strstr(type, "8")                    ? 1
           : !strcmp(type, "f16") || *type == 'b' ? 2
                                                  : 4;
}

static void encode(const char *type, double value, uint8_t *to)
{
    const float narrow = (float) value;
    const int32_t whole = (int32_t) value;
    const uint32_t half = !strcmp(type, "f16") ? f16_nearest(value) : bf16_nearest(value);

    if (!strcmp(type, "f64"))
        memcpy(to, &value, 8);
    else if (bytes_of(type) == 2)
        memcpy(to, &half, 2);
    else if (*type == 's' || *type == 'u')
        memcpy(to, &whole, (size_t) bytes_of(type));
    else
        memcpy(to, &narrow, 4);
}

static double decode(const char *type, const uint8_t *from)
{
    float narrow;
    double wide;
    int32_t whole;
    uint16_t half;

    memcpy(&wide, from, 8);
    memcpy(&narrow, from, 4);
    memcpy(&whole, from, 4);
    memcpy(&half, from, 2);
    return !strcmp(type, "f64")   ? wide
           : !strcmp(type, "f16") ? f16_value(half)
           : !strcmp(type, "s32") ? whole
                                  : narrow;
}

/* Where an element is, counted in elements. */
static int place_in(const char *layout, int rows, int columns, int row, int column)
{
    return !strcmp(layout, "row") ? row * columns + column : column * rows + row;
}

/* An initialised variable. */
static void put_matrix(char *ptx, const char *name, const char *type, const char *layout, int rows,
                       int columns, double values[SIDE][SIDE])
{
    static uint8_t bytes[SIDE * SIDE * 8];
    const int size = bytes_of(type), all = rows * columns * size;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            encode(type, values[i][j], bytes + place_in(layout, rows, columns, i, j) * size);
    append(ptx, TEXT, ".global .align 32 .b8 %s[%d] = {", name, all);
    for (int i = 0; i < all; i++)
        append(ptx, TEXT, "%s%d", i ? "," : "", bytes[i]);
    append(ptx, TEXT, "};\n");
}

static void put_registers(char *ptx, const char *name, int count)
{
    append(ptx, TEXT, "{");
    for (int i = 0; i < count; i++)
        append(ptx, TEXT, "%s%%%s%d", i ? "," : "", name, i);
    append(ptx, TEXT, "}");
}

static void put_load(char *ptx, const Case *c, char matrix, const char *layout, const char *type,
                     int registers, int stride)
{
    const char name[] = { 'm', matrix, 0 };

    append(ptx, TEXT, "wmma.load.%c.sync.aligned.%s.%s.global.%s ", matrix, layout, c->shape, type);
    put_registers(ptx, name, registers);
    append(ptx, TEXT, ", [%%rd2%d], %d;\n", matrix - 'a', stride);
}

static void put_kernel(char *ptx, const Case *c)
{
    const bool row_a = *c->a_layout == 'r', row_b = *c->b_layout == 'r',
               row_c = *c->c_layout == 'r';
    const char *wide = bytes_of(c->sum) == 8 ? "f64" : "b32";

    append(ptx, TEXT, "%s.reg .%s %%ma<8>, %%mb<8>, %%mc<8>, %%md<8>;\n", BEGIN, wide);
    append(ptx, TEXT, "mov.u64 %%rd20, ma;\nmov.u64 %%rd21, mb;\nmov.u64 %%rd22, mc;\n");
    put_load(ptx, c, 'a', c->a_layout, c->factor, c->a_registers, row_a ? c->k : c->m);
    put_load(ptx, c, 'b', c->b_layout, c->factor, c->b_registers, row_b ? c->n : c->k);
    put_load(ptx, c, 'c', c->c_layout, c->sum, c->c_registers, row_c ? c->n : c->m);
    append(ptx, TEXT, "wmma.mma.sync.aligned.%s.%s.%s.%s", c->a_layout, c->b_layout, c->shape,
           c->sum);
    if (strcmp(c->factor, "f16"))
        append(ptx, TEXT, ".%s.%s", c->factor, c->factor);
    append(ptx, TEXT, ".%s%s ", c->sum, c->flags);
    put_registers(ptx, "md", c->c_registers);
    append(ptx, TEXT, ", ");
    put_registers(ptx, "ma", c->a_registers);
    append(ptx, TEXT, ", ");
    put_registers(ptx, "mb", c->b_registers);
    append(ptx, TEXT, ", ");
    put_registers(ptx, "mc", c->c_registers);
    append(ptx, TEXT, ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%rd1], ", c->c_layout,
           c->shape, c->sum);
    put_registers(ptx, "md", c->c_registers);
    append(ptx, TEXT, ", %d;\nret;\n}\n", row_c ? c->n : c->m);
}

static double a[SIDE][SIDE], b[SIDE][SIDE], sums[SIDE][SIDE];

static void fill(const Case *c)
{
    const int below = *c->factor == 'u' ? 0 : 3; /* unsigned types have no negative numbers */

    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = (i * 7 + j * 3) % 8 - below;
            b[i][j] = (i * 5 + j * 11) % 7 - below;
            sums[i][j] = (i * 3 + j) % 16;
        }
}

static void one_product(const Case *c)
{
    static char ptx[TEXT];
    Trial trial = { .ptx = ptx };
    bool same = true;

    fill(c);
    snprintf(ptx, sizeof ptx, "%s", HEAD);
    put_matrix(ptx, "ma", c->factor, c->a_layout, c->m, c->k, a);
    put_matrix(ptx, "mb", c->factor, c->b_layout, c->k, c->n, b);
    put_matrix(ptx, "mc", c->sum, c->c_layout, c->m, c->n, sums);
    put_kernel(ptx, c);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    for (int i = 0; i < c->m; i++)
        for (int j = 0; j < c->n; j++) {
            const int at = place_in(c->c_layout, c->m, c->n, i, j) * bytes_of(c->sum);
            double want = sums[i][j];
            for (int k = 0; k < c->k; k++)
                want += a[i][k] * b[k][j];
            same &= decode(c->sum, (const uint8_t *) trial.out + at) == want;
        }
    if (!same || !trial.well || finding_count()) {
        show_findings(c->shape);
        FAIL_SAYING("%s of %s", c->shape, c->factor);
    }
    trial_close(&trial);
}

static void products_of_wmma(void)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        one_product(&cases[i]);
}

/* ---- mma: the PTX ISA says which lane holds which element ---- */

/* Computes (row * 3 + column * 5) & 7 into %w1, for the lane's row and column plus offsets. */
static void put_value(char *ptx, int row, int column, int wide)
{
    append(ptx, TEXT,
           "shr.u32 %%w1, %%r2, 2;\nadd.u32 %%w1, %%w1, %d;\nand.b32 %%w2, %%r2, 3;\n"
           "mad.lo.u32 %%w2, %%w2, %d, %d;\nmul.lo.u32 %%w1, %%w1, 3;\n"
           "mad.lo.u32 %%w1, %%w2, 5, %%w1;\nand.b32 %%w1, %%w1, 7;\n",
           row, wide, column);
}

static void put_half_pair(char *ptx, const char *to, int index, int row, int column)
{
    for (int i = 0; i < 2; i++) {
        put_value(ptx, row, column + i, 2);
        append(ptx, TEXT, "cvt.rn.f16.u32 %%h%d, %%w1;\n", i);
    }
    append(ptx, TEXT, "mov.b32 %%%s%d, {%%h0, %%h1};\n", to, index);
}

/* A[i][j] = B^T[i][j] = (3 i + 5 j) & 7; C = A B + 1. */
static void halves_as_the_isa_deals_them(void)
{
    static char ptx[TEXT];
    Trial trial = { .ptx = ptx };

    snprintf(ptx, sizeof ptx,
             "%s%s.reg .b32 %%w<9>, %%a<4>, %%b<2>;\n.reg .b16 %%h<2>;\n.reg .f32 %%d<4>;\n", HEAD,
             BEGIN);
    put_half_pair(ptx, "a", 0, 0, 0);
    put_half_pair(ptx, "a", 1, 8, 0);
    put_half_pair(ptx, "a", 2, 0, 8);
    put_half_pair(ptx, "a", 3, 8, 8);
    put_half_pair(ptx, "b", 0, 0, 0);
    put_half_pair(ptx, "b", 1, 0, 8);
    append(ptx, TEXT,
           "mov.f32 %%f1, 0f3F800000;\n"
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%d0,%%d1,%%d2,%%d3}, "
           "{%%a0,%%a1,%%a2,%%a3}, {%%b0,%%b1}, {%%f1,%%f1,%%f1,%%f1};\n"
           "mul.wide.u32 %%rd3, %%r2, 16;\nadd.u64 %%rd3, %%rd3, %%rd1;\n"
           "st.global.v4.f32 [%%rd3], {%%d0,%%d1,%%d2,%%d3};\nret;\n}\n");
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well && !finding_count());
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < 4; e++) {
            const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
            float want = 1, got;
            for (int k = 0; k < 16; k++)
                want += (float) (((3 * row + 5 * k) & 7) * ((3 * column + 5 * k) & 7));
            memcpy(&got, &trial.out[lane * 4 + e], 4);
            if (got != want)
                FAIL_SAYING("lane %d, element %d: %g, not %g", lane, e, got, want);
        }
    trial_close(&trial);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* Half i of a matrix is the number i; its rows begin at 16 * lane. */
#define NUMBERS                                                                                    \
    ".shared .align 16 .b8 sh[512], back[512];\nshl.b32 %r10, %r2, 4;\nmov.u32 %r11, sh;\n"        \
    "add.u32 %r11, %r11, %r10;\nmov.u32 %r15, back;\nadd.u32 %r15, %r15, %r10;\n"                  \
    "shl.b32 %r12, %r2, 3;\nmul.lo.u32 %r12, %r12, 0x10001;\nadd.u32 %r12, %r12, 0x10000;\n"       \
    "st.shared.u32 [%r11], %r12;\nadd.u32 %r12, %r12, 0x20002;\nst.shared.u32 [%r11+4], %r12;\n"   \
    "add.u32 %r12, %r12, 0x20002;\nst.shared.u32 [%r11+8], %r12;\n"                                \
    "add.u32 %r12, %r12, 0x20002;\nst.shared.u32 [%r11+12], %r12;\nbar.sync 0;\n"

#define PAIR(low, high) ((uint32_t) (low) | (uint32_t) (high) << 16)

static uint32_t plain_third(int lane)
{
    return PAIR(128 + 2 * lane, 128 + 2 * lane + 1);
}

static uint32_t transposed_first(int lane)
{
    return PAIR(lane % 4 * 16 + lane / 4, lane % 4 * 16 + 8 + lane / 4);
}

static uint32_t plain_second(int lane)
{
    return PAIR(64 + 2 * lane, 64 + 2 * lane + 1);
}

static const struct {
    const char *body;
    uint32_t (*want)(int lane);
} moves[] = {
    { "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20,%r21,%r0,%r23}, [%r11];\n", plain_third },
    { "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r11];\n", transposed_first },
    { "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r20,%r0}, [%r11];\n", plain_second },
    { "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r11];\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r20;\n",
      transposed_first },
    { "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r20,%r21}, [%r11];\n"
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r15], {%r20,%r21};\nbar.sync 0;\n"
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r20,%r0}, [%r15];\n",
      plain_second },
};

static void matrices_of_halves(void)
{
    for (size_t i = 0; i < COUNT(moves); i++) {
        char ptx[4000];
        Trial trial = { .ptx = ptx, .check_races = true };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN NUMBERS, moves[i].body, END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        bool same = trial.well && !finding_count();
        for (int lane = 0; lane < 32; lane++)
            same &= trial.out[lane] == moves[i].want(lane);
        if (!same) {
            show_findings("move");
            FAIL_SAYING("%s: lane 5 has 0x%08x", moves[i].body, trial.out[5]);
        }
        trial_close(&trial);
    }
}

/* ---- Faults ---- */

static const struct {
    const char *body;
    FindingKind kind;
} faults[] = {
    { "setp.lt.u32 %p1, %r2, 16;\n@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;\n",
      FINDING_SHUFFLE },
    { "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1+1];\n", FINDING_MISALIGNED },
    { "mov.u32 %r9, 4096;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];\n",
      FINDING_OUT_OF_BOUNDS },
    { "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r1,%r1,%r1}, "
      "{%r1,%r1}, {%f1,%f2,%f3,%f4}; // wrong\n",
      FINDING_UNKNOWN_INSTRUCTION },
    { "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r1,%r1}, "
      "{%r1,%r1}, {%f1,%f2,%f3,%f4}; // wrong\n",
      FINDING_UNKNOWN_INSTRUCTION },
};

static void faults_are_reported(void)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        char ptx[4000];
        Trial trial = { .ptx = ptx };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, faults[i].body, END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        if (!found(faults[i].kind)) {
            show_findings("fault");
            FAIL_SAYING("%s", faults[i].body);
        }
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "products of wmma", products_of_wmma },
    { "halves as the ISA deals them", halves_as_the_isa_deals_them },
    { "matrices of halves", matrices_of_halves },
    { "faults are reported", faults_are_reported },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_tensor = { "test_sim_tensor", NULL, NULL, NULL, NULL, tests };
