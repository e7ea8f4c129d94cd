/* test_sim_packed.c - instructions on several small numbers in one register: SIMD video
 * instructions, pairs of 16 bits, pairs of f32, pairs of 8-bit floats; and red of vectors. Expected
 * values are worked out by hand from the PTX ISA. */
#include "base/util.h"
#include "rows.h"
#include "sim/exec/ops/handlers.h"
#include "sim/sim_launch.h"

/* The operands are %r10, %r11 and %r12, the result is %r0. */
static const struct {
    const char *text;
    uint32_t a, b, c, want;
} rows[] = {
    { "vabsdiff4.u32.u32.u32 %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 9, 0x01fe0110 },
    { "vabsdiff4.u32.u32.u32.add %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 9, 0x119 },
    { "vabsdiff4.u32.s32.s32 %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 0, 0x0102ff10 },
    { "vabsdiff2.u32.u32.u32.add %r0, %r10, %r11, %r12;", 0x00050001, 0x0001ffff, 1, 0x10003 },
    { "vadd4.u32.u32.u32 %r0, %r10, %r11, %r12;", 0x01fff001, 0x0101200f, 0, 0x02001010 },
    { "vadd4.u32.u32.u32.sat %r0, %r10, %r11, %r12;", 0x01fff001, 0x0101200f, 0, 0x02ffff10 },
    { "vadd2.s32.s32.s32.sat %r0, %r10, %r11, %r12;", 0x7fff8000, 0x0001ffff, 0, 0x7fff8000 },
    { "vsub4.u32.u32.u32.sat %r0, %r10, %r11, %r12;", 0x05010203, 0x01020304, 0, 0x04000000 },
    { "vsub2.s32.s32.s32 %r0, %r10, %r11, %r12;", 0x00010005, 0x00020003, 0, 0xffff0002 },
    { "vavrg4.u32.u32.u32 %r0, %r10, %r11, %r12;", 0x0103fe00, 0x0204ff00, 0, 0x0204ff00 },
    { "vavrg2.s32.s32.s32 %r0, %r10, %r11, %r12;", 0xfffd0003, 0xfffe0004, 0, 0xfffd0004 },
    { "vmin4.u32.u32.u32 %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 0, 0x01017f00 },
    { "vmax4.s32.s32.s32 %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 0, 0x02017f10 },
    { "vset4.u32.u32.lt %r0, %r10, %r11, %r12;", 0x01ff8000, 0x02017f10, 0, 0x01000001 },
    { "vset2.s32.s32.ne.add %r0, %r10, %r11, %r12;", 0x00010001, 0x00010002, 40, 41 },
    { "add.u16x2 %r0, %r10, %r11;", 0x0001ffff, 0x00020001, 0, 0x00030000 },
    { "min.u16x2 %r0, %r10, %r11;", 0x0001ffff, 0x00020001, 0, 0x00010001 },
    { "max.s16x2 %r0, %r10, %r11;", 0x0001ffff, 0xffff0001, 0, 0x00010001 },
    { "max.relu.s16x2 %r0, %r10, %r11;", 0xfffe0005, 0xfffffff9, 0, 0x00000005 },
    { "min.relu.s16x2 %r0, %r10, %r11;", 0x00070005, 0xffff0009, 0, 0x00000005 },
    /* The nearest e4m3 to 0.3 is 0.3125 = 1.25 * 2^-2, to -1000 -448; 17 lies between 16 and 18. */
    { "mov.b32 %f1, %r10; mov.b32 %f2, %r11; cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2; "
      "cvt.u32.u16 %r0, %rs1;",
      0x3e99999a, 0xc47a0000, 0, 0x2afe },
    { "mov.b32 %f1, %r10; mov.b32 %f2, %r11; cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2; "
      "cvt.u32.u16 %r0, %rs1;",
      0x41880000, 0x7fc00000, 0, 0x587f },
    { "mov.b32 %f1, %r10; mov.b32 %f2, %r11; cvt.rn.satfinite.relu.e5m2x2.f32 %rs1, %f1, %f2; "
      "cvt.u32.u16 %r0, %rs1;",
      0x47c35000, 0xbf800000, 0, 0x7b00 },
    { "cvt.rn.satfinite.e5m2x2.f16x2 %rs1, %r10; cvt.u32.u16 %r0, %rs1;", 0x3c00b800, 0, 0,
      0x3cb8 },
    { "cvt.u16.u32 %rs1, %r10; cvt.rn.f16x2.e4m3x2 %r0, %rs1;", 0x387e, 0, 0, 0x3c005f00 },
    { "cvt.u16.u32 %rs1, %r10; cvt.rn.f16x2.e4m3x2 %r0, %rs1;", 0x81ff, 0, 0, 0x98007fff },
    { "cvt.u16.u32 %rs1, %r10; cvt.rn.relu.f16x2.e5m2x2 %r0, %rs1;", 0xbc7c, 0, 0, 0x00007c00 },
    /* 1.5 * 2 + 1 above, 3 * -1 + 0.5 below */
    { "mov.b64 %rd9, {%r10, %r11}; mov.b64 %rd10, {0fBF800000, 0f40000000}; "
      "mov.b64 %rd11, {0f3F000000, 0f3F800000}; fma.rn.f32x2 %rd12, %rd9, %rd10, %rd11; "
      "mov.b64 {%r20, %r21}, %rd12; xor.b32 %r0, %r20, %r21; // wrong: for sm_100",
      0x40400000, 0x3fc00000, 0, 0xc0200000 ^ 0x40800000 },
    { "mov.b64 %rd9, {%r10, %r11}; add.f32x2 %rd12, %rd9, %rd9; mov.b64 {%r20, %r0}, %rd12; "
      "// wrong: for sm_100",
      0x40400000, 0x3fc00000, 0, 0x40400000 },
    /* Two and four words at once; lane 7 reads its own. */
    { "mul.wide.u32 %rd4, %r2, 8; add.u64 %rd4, %rd4, %rd1; mov.f32 %f1, 0f3F800000; "
      "mov.f32 %f2, 0f40000000; red.global.add.v2.f32 [%rd4+4096], {%f1, %f2}; "
      "red.global.add.v2.f32 [%rd4+4096], {%f1, %f2}; ld.global.u32 %r0, [%rd4+4100];",
      0, 0, 0, 0x40800000 },
    { "mul.wide.u32 %rd4, %r2, 16; add.u64 %rd4, %rd4, %rd1; "
      "red.global.add.noftz.v4.f16x2 [%rd4+4096], {%r10, %r11, %r10, %r11}; "
      "ld.global.u32 %r0, [%rd4+4108];",
      0x3c003c00, 0x40004200, 0, 0x40004200 },
    { "setmaxnreg.inc.sync.aligned.u32 232; mov.u32 %r0, %r10; // wrong: for sm_90a", 3, 0, 0, 3 },
    { "applypriority.global.L2::evict_normal [%rd1], 128; mov.u32 %r0, %r10;", 3, 0, 0, 3 },
    { "vmin2.u32.u32.u32 %r0, %r10, %r11, %r12;", 0x0001ffff, 0x00020001, 0, 0x00010001 },
    { "vmax2.s32.s32.s32 %r0, %r10, %r11, %r12;", 0x0001ffff, 0xffff0001, 0, 0x00010001 },
};

/* red of vectors needs PTX 8.1, pairs of f32 8.6. */
#define OWN_HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

static void one_row(size_t i)
{
    char ptx[4000];
    Trial trial = { .ptx = ptx };

    PUT(ptx, "%s.reg .b32 %%x;\nmov.u32 %%r10, %u;\nmov.u32 %%r11, %u;\nmov.u32 %%r12, %u;\n%s\n%s",
        OWN_HEAD BEGIN, rows[i].a, rows[i].b, rows[i].c, rows[i].text, END);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    if (!trial.well || finding_count() || trial.out[7] != rows[i].want) {
        show_findings(rows[i].text);
        FAIL_SAYING("%s: 0x%x, not 0x%x", rows[i].text, trial.out[7], rows[i].want);
    }
    trial_close(&trial);
}

static void results(void)
{
    for (int level = 0; level <= cpu_simd_level(); level++) {
        simd_level = level;
        for (size_t i = 0; i < COUNT(rows); i++)
            one_row(i);
    }
    simd_level = -1;
}

static CU_TestInfo tests[] = {
    { "results", results },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_packed = { "test_sim_packed", NULL, NULL, NULL, NULL, tests };
