/* test_sim_ptxas.c - the expected machine code for atomics, sums of products, shifts, tests and
 * copies, compared with ptxas 13.0. */
#include "sim/exec/exec.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

/* After this head, %rd1 is a pointer parameter, %rd2 is %rd1 plus the thread's number, %r1 varies
 * between lanes, and %r2 does not. `wanted` has one character per atomic or float sum: n as
 * written, y one lane for all, t one lane that broadcasts the result, i the same if all lanes are
 * active, e one lane per address, f fused; and one per other step that is not as written: a
 * absorbed, j joined, c copied. */
static const char head[] =
    "\n.version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .u32 total;\n.shared .align 8 .b8 tile[64];\n.const .u64 where;\n"
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<20>;\n"
    "ld.param.u64 %rd9, [p]; cvta.to.global.u64 %rd1, %rd9; ld.param.u32 %r2, [n];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd8, %r1, 4; add.s64 %rd2, %rd1, %rd8;\n"
    "ld.global.u32 %r3, [%rd1]; setp.eq.s32 %p1, %r1, 3; setp.eq.s32 %p2, %r2, 3;\n"
    "mov.f32 %f1, 0f3F800000; mov.u64 %rd7, 5;\n";

static const struct {
    const char *body, *wanted;
} kernels[] = {
    /* by address */
    { "red.global.add.u32 [%rd1], %r1;", "y" },
    { "red.global.add.u32 [%rd1+64], %r1;", "y" },
    { "red.global.add.u32 [%rd2], %r1;", "n" },
    { "red.global.add.u32 [total], 1;", "y" },
    { "red.shared.max.s32 [tile+4], %r1;", "y" },
    { "mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; "
      "red.global.add.u32 [%rd4], 1;",
      "y" },
    { "mov.u32 %r4, %laneid; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; "
      "red.global.add.u32 [%rd4], 1;",
      "n" },
    { "ld.const.u64 %rd3, [where]; red.global.add.u32 [%rd3], 1;", "y" },
    { "ld.global.u64 %rd3, [%rd1]; red.global.add.u32 [%rd3], 1;", "n" },
    { "shfl.sync.idx.b32 %r4, %r1, 0, 31, -1; mul.wide.u32 %rd3, %r4, 4; "
      "red.global.add.u32 [%rd3], 1;",
      "n" },
    /* A value that is set conditionally or in two places need not be the same in all lanes. */
    { "@%p1 mov.u64 %rd3, %rd1; red.global.add.u32 [%rd3], 1;", "n" },
    { "@%p2 mov.u64 %rd3, %rd1; red.global.add.u32 [%rd3], 1;", "y" },
    { "mov.u64 %rd3, %rd1; @%p1 mov.u64 %rd3, 64; red.global.add.u32 [%rd3], 1;", "cn" },
    { "selp.b64 %rd3, %rd1, %rd7, %p1; red.global.add.u32 [%rd3], 1;", "n" },
    { "selp.b64 %rd3, %rd1, %rd7, %p2; red.global.add.u32 [%rd3], 1;", "y" },
    /* The definition follows the use in the text. */
    { "bra A; B: red.global.add.u32 [%rd4], 1; ret; A: add.s64 %rd4, %rd2, 4; bra B;", "n" },
    { "bra A; B: red.global.add.u32 [%rd4], 1; ret; A: add.s64 %rd4, %rd1, 4; bra B;", "y" },
    /* by operation, and whether the result is used */
    { "atom.global.add.u32 %r5, [%rd1], %r1;", "y" },
    { "atom.global.add.u32 %r5, [%rd1], %r1; st.global.u32 [%rd2], %r5;", "i" },
    { "atom.global.add.u32 %r5, [%rd1], %r2; st.global.u32 [%rd2], %r5;", "t" },
    { "atom.global.add.u32 %r5, [%rd1], 7; st.global.u32 [%rd2], %r5;", "t" },
    { "atom.global.max.u32 %r5, [%rd1], %r1;", "y" },
    { "atom.global.max.u32 %r5, [%rd1], %r1; st.global.u32 [%rd2], %r5;", "n" },
    { "atom.global.and.b32 %r5, [%rd1], %r1; atom.global.or.b32 %r6, [%rd1], %r1; "
      "atom.global.xor.b32 %r7, [%rd1], %r1; add.s32 %r8, %r7, 1;",
      "yyn" },
    { "red.global.add.f32 [%rd1], %f1;", "n" },
    { "red.global.add.u64 [%rd1], 1;", "y" },
    { "red.global.add.u64 [%rd1], %rd8;", "n" },
    { "red.global.min.u64 [%rd1], %rd8;", "n" },
    { "red.global.inc.u32 [%rd1], %r1;", "n" },
    { "atom.global.exch.b32 %r5, [%rd1], %r1;", "n" },
    { "atom.global.cas.b32 %r5, [%rd1], %r1, %r2;", "n" },
    { "atom.add.u32 %r5, [%rd9], %r1;", "n" }, /* generic */
    /* Shared memory has an instruction that counts lanes. */
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; atom.shared.add.u32 %r5, [%r4], 1;", "e" },
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; red.shared.add.u32 [%r4], 1;", "e" },
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; red.shared.add.s32 [%r4], 1;", "n" },
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; red.shared.add.u32 [%r4], 2;", "n" },
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; red.shared.add.u32 [%r4], %r2;", "n" },
    { "mov.u32 %r9, tile; add.s32 %r4, %r9, %r1; atom.shared.add.u32 %r5, [%r4], 1; "
      "st.shared.u32 [%r4], %r5;",
      "n" },
    { "red.global.add.u32 [%rd2], 1;", "n" },
    /* Sums of products without an explicit rounding. */
    { "mul.f32 %f2, %f1, %f1; sub.f32 %f3, %f2, %f1;", "f" },
    { "mul.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f2;", "f" },
    { "mul.ftz.f32 %f2, %f1, %f1; add.ftz.f32 %f3, %f1, %f2;", "f" },
    { "mul.ftz.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f2;", "n" },
    { "mul.rn.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f2;", "n" },
    { "mul.f32 %f2, %f1, %f1; add.rn.f32 %f3, %f1, %f2;", "n" },
    { "add.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f2;", "nn" },
    /* A product that is needed elsewhere stays. */
    { "mul.f32 %f2, %f1, %f1; add.f32 %f3, %f1, %f2; st.global.f32 [%rd1], %f2;", "n" },
    /* LEA shifts one of its addends if the shift has no other reader. */
    { "shl.b32 %r4, %r1, 8; mov.u32 %r5, %ctaid.x; add.s32 %r6, %r4, %r5;", "j" },
    { "shl.b32 %r4, %r1, 8; shl.b32 %r5, %r2, 2; add.s32 %r6, %r4, %r5;", "j" },
    { "xor.b32 %r4, %r1, %r2; or.b32 %r5, %r4, 3;", "a" },
    { "shl.b32 %r4, %r1, 8; add.s32 %r6, %r4, %r2; st.global.u32 [%rd2], %r4;", "" },
    { "shl.b32 %r4, %r1, %r2; add.s32 %r6, %r4, %r2;", "" },
    /* LOP3 also tests its result for 0; the result may have other readers. */
    { "and.b32 %r4, %r1, 31; setp.ne.s32 %p3, %r4, 0; st.global.u32 [%rd2], %r4;", "j" },
    { "and.b32 %r4, %r1, 31; setp.gt.s32 %p3, %r4, 0;", "" },
    { "and.b32 %r4, %r1, 31; setp.ne.s32 %p3, %r4, 1;", "" },
    { "add.s32 %r4, %r1, 31; setp.ne.s32 %p3, %r4, 0;", "" },
    /* A copy is needed if both registers are used later. */
    { "mov.u32 %r4, 0; @%p1 add.s32 %r4, %r4, 1;", "c" },
    { "mov.u32 %r4, %r2; @%p1 add.s32 %r4, %r4, 1; st.global.u32 [%rd2], %r2;", "c" },
    { "mov.u32 %r4, %r2; @%p1 add.s32 %r4, %r4, 1; st.global.u32 [%rd2], %r4;", "" },
    { "mov.u32 %r4, %r2; st.global.u32 [%rd2], %r2;", "" },
};

static bool is_looked_at(const Instruction *in)
{
    return in->op == OP_atom || in->op == OP_red ||
           ((in->op == OP_add || in->op == OP_sub) && in->types[0] == TYPE_F32);
}

/* Writes the treatments as characters of `wanted`. */
static void treatments_of(const char *body, char *treatments, size_t size)
{
    static const char letters[] = { [AS_WRITTEN] = 'n',
                                    [WARP_REDUCED] = 'y',
                                    [WARP_REDUCED_WITH_RESULT] = 't',
                                    [WARP_REDUCED_IF_FULL] = 'i',
                                    [ADDRESS_REDUCED] = 'e',
                                    [FUSED] = 'f',
                                    [ABSORBED] = 'a',
                                    [JOINED] = 'j',
                                    [COPIED] = 'c' };
    uint8_t treatment[64] = { 0 };
    char text[4000], why[400] = "";

    snprintf(text, sizeof text, "%s%s ret; }\n", head, body);
    Module *module = module_parse(text, strlen(text), why, sizeof why);
    put(treatments, size, "%s", why);
    if (!module)
        return;
    const Function *f = &module->functions[module_find(module, "k")];
    CU_ASSERT_FATAL(f->instruction_count < (int) COUNT(treatment));
    find_treatments(f, treatment, NULL);
    for (int i = 0; i < f->instruction_count; i++)
        if (is_looked_at(&f->instructions[i]) || treatment[i] != AS_WRITTEN)
            append(treatments, size, "%c", letters[treatment[i]]);
    module_free(module);
}

static void what_becomes_of_them(void)
{
    for (size_t i = 0; i < COUNT(kernels); i++) {
        char found[400];
        treatments_of(kernels[i].body, found, sizeof found);
        if (strcmp(found, kernels[i].wanted))
            printf("\n%s: %s, not %s", kernels[i].body, found, kernels[i].wanted);
        CU_ASSERT_STRING_EQUAL(found, kernels[i].wanted);
    }
}

CU_SuiteInfo test_sim_ptxas = {
    .pName = "sim_ptxas",
    .pTests =
        (CU_TestInfo[]){
            { "atomics and sums as ptxas makes them", what_becomes_of_them },
            CU_TEST_INFO_NULL,
        },
};
