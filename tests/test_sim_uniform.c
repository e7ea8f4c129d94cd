/* test_sim_uniform.c - which atomics one lane of a warp does for all; as ptxas 13.0 was seen to do.
 */
#include "exec.h"
#include "util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Behind this, %rd1 is a parameter's address, %rd2 that plus the thread's number, %r1 varies, %r2
 * does not. `wanted`: a character an atomic, y or n. */
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
    /* A value that is set under a condition, or in two places, need not be the same for all. */
    { "@%p1 mov.u64 %rd3, %rd1; red.global.add.u32 [%rd3], 1;", "n" },
    { "@%p2 mov.u64 %rd3, %rd1; red.global.add.u32 [%rd3], 1;", "y" },
    { "mov.u64 %rd3, %rd1; @%p1 mov.u64 %rd3, 64; red.global.add.u32 [%rd3], 1;", "n" },
    { "selp.b64 %rd3, %rd1, %rd7, %p1; red.global.add.u32 [%rd3], 1;", "n" },
    { "selp.b64 %rd3, %rd1, %rd7, %p2; red.global.add.u32 [%rd3], 1;", "y" },
    /* The other way round in the text. */
    { "bra A; B: red.global.add.u32 [%rd4], 1; ret; A: add.s64 %rd4, %rd2, 4; bra B;", "n" },
    { "bra A; B: red.global.add.u32 [%rd4], 1; ret; A: add.s64 %rd4, %rd1, 4; bra B;", "y" },
    /* by operation, and whether anyone wants the result */
    { "atom.global.add.u32 %r5, [%rd1], %r1;", "y" },
    { "atom.global.add.u32 %r5, [%rd1], %r1; st.global.u32 [%rd2], %r5;", "y" },
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
};

/* The flags of all atomics, as a text. */
static void flags_of(const char *body, char *flags, size_t size)
{
    bool one_for_all[64] = { 0 };
    char text[4000], why[400] = "";

    snprintf(text, sizeof text, "%s%s ret; }\n", head, body);
    Module *module = module_parse(text, strlen(text), why, sizeof why);
    put(flags, size, "%s", why);
    if (!module)
        return;
    const Function *f = &module->functions[module_find(module, "k")];
    CU_ASSERT_FATAL(f->instruction_count < (int) COUNT(one_for_all));
    find_one_for_all(f, one_for_all);
    for (int i = 0; i < f->instruction_count; i++)
        if (f->instructions[i].op == OP_atom || f->instructions[i].op == OP_red)
            append(flags, size, "%c", one_for_all[i] ? 'y' : 'n');
        else
            CU_ASSERT_FALSE(one_for_all[i]);
    module_free(module);
}

static void who_does_it(void)
{
    for (size_t i = 0; i < COUNT(kernels); i++) {
        char flags[400];
        flags_of(kernels[i].body, flags, sizeof flags);
        if (strcmp(flags, kernels[i].wanted))
            printf("\n%s: %s, not %s", kernels[i].body, flags, kernels[i].wanted);
        CU_ASSERT_STRING_EQUAL(flags, kernels[i].wanted);
    }
}

CU_SuiteInfo test_sim_uniform = {
    "sim: one lane for all",
    .pTests = (CU_TestInfo[]){ { "atomics that ptxas combines", who_does_it }, CU_TEST_INFO_NULL }
};
