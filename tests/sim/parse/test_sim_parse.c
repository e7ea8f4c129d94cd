/* test_sim_parse.c - instructions of PTX, and the parsed result. */
#include "sim/sim_ptx.h"

/* ---- Instructions ---- */

#define CALL(body) "{ .param .b32 q, p0, p1; " body " }"

static const struct {
    const char *statement, *meaning;
} statements[] = {
    /* Opcodes and their words. */
    { "ret;", "ret" },
    { "bar.sync 0;", "bar .sync: 0" },
    { "add.s32 %r1, %r2, -1;", "add s32: %r1 %r2 -1" },
    { "mad.lo.cc.u32 %r1, %r2, %r3, x;", "mad u32 .lo .cc: %r1 %r2 %r3 x" },
    { "cvt.rn.sat.f32.s32 %f1, %r1;", "cvt f32 s32 .rn .sat: %f1 %r1" },
    { "fma.rn.ftz.f32 %f1, %f2, %f3, 0f3F800000;", "fma f32 .rn .ftz: %f1 %f2 %f3 1f" },
    { "atom.global.add.u32 %r1, [%rd1], 1;", "atom global u32 .add: %r1 [%rd1] 1" },
    { "atom.acq_rel.gpu.shared::cta.cas.b32 %r1, [%rd1], 1, 2;",
      "atom shared b32 .acq_rel .gpu .cas: %r1 [%rd1] 1 2" },
    { "ld.shared::cluster.b32 %r1, [%rd1];", "ld shared b32 .cluster: %r1 [%rd1]" },
    { "ld.param::entry.b32 %r1, [n];", "ld param b32 .entry: %r1 [n]" },
    { "ld.param::func.b32 %r1, [n];", "ld param b32: %r1 [n]" },
    { "cvta.to.global.u64 %rd1, %rd2;", "cvta global u64 .to: %rd1 %rd2" },
    { "cp.async.cg.shared.global [%r1], [%rd1], 16;",
      "cp_async global .async .cg: [%r1] [%rd1] 16" },
    { "cp.async.ca.shared.global.L2::128B [%r1], [%rd1+4], 4, %r2;",
      "cp_async global .async .ca: [%r1] [%rd1+4] 4 %r2" },
    { "cp.async.wait_group 2;", "cp_async .async .wait_group: 2" },
    { "cp.async.commit_group;", "cp_async .async .commit_group" },
    { "bar.warp.sync -1;", "bar .warp .sync: -1" },
    { "ld.global.L1::evict_last.L2::cache_hint.b32 %r1, [%rd1], %rd2;",
      "ld global b32: %r1 [%rd1]" },
    { "ld.global.b32.never_seen %r1, [%rd1];", "ld global b32 .other: %r1 [%rd1]" },
    { "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;", "setp s32 .lt .and: %p1 %p2 %r1 5 !%p3" },
    /* Widths of vectors. */
    { "ld.global.nc.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-8];",
      "ld global f32 .nc .v4: {%f1 %f2 _ %f4} [%rd1-8]" },
    { "st.shared.v2.u32 [sh+8], {%r1, 7};", "st shared u32 .v2: [sh+8] {%r1 7}" },
    { "ld.global.v4.f32 v, [%rd1];", "ld global f32 .v4: {v v v v} [%rd1]" },
    { "mov.b64 {%r1, %r2}, %rd1;", "mov b64: {%r1 %r2} %rd1" },
    { "mov.b64 %rd1, {0, %r2};", "mov b64: %rd1 {0 %r2}" },
    { "mov.f32 %f1, v.w;", "mov f32: %f1 v" },
    /* Two results, unused results, guards. */
    { "shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;",
      "shfl b32 .sync .down: %r1 %p1 %r2 16 31 -1" },
    { "elect.sync _|%p1, -1;", "elect .sync: _ %p1 -1" },
    { "@%p1 exit;", "@%p1 exit" },
    { "@!%p4 bra L; L:", "@!%p4 bra: ->1" },
    { "mov.pred %p1, -1;", "mov pred: %p1 -1" },
    /* Addresses. */
    { "ld.b32 %r1, [%rd1 + 4 - 8];", "ld b32: %r1 [%rd1-4]" },
    { "ld.param.u64 %rd1, [k_param_0+0];", "ld param u64: %rd1 [k_param_0]" },
    { "ld.const.b32 %r1, [16+4];", "ld const b32: %r1 [20]" },
    { "mov.u64 %rd1, g+8;", "mov u64: %rd1 &g+8" },
    { "mov.u32 %r1, sd;", "mov u32: %r1 &sd" },
    { "mov.u64 %rd1, f;", "mov u64: %rd1 f()" },
    { "mov.u64 %rd1, depot;", "mov u64: %rd1 &depot" },
    /* Constants. */
    { "mov.u32 %r1, 0x7fffFFFF;", "mov u32: %r1 2147483647" },
    { "mov.u32 %r1, 0b101U;", "mov u32: %r1 5" },
    { "mov.u32 %r1, 017;", "mov u32: %r1 15" },
    { "mov.u32 %r1, 0;", "mov u32: %r1 0" },
    { "mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;", "mov u64: %rd1 -1" },
    { "mov.u32 %r1, -(1+2)*3 << 1;", "mov u32: %r1 -18" },
    { "mov.u32 %r1, (5 > 3 ? ~0 : 1) & 6;", "mov u32: %r1 6" },
    { "mov.u32 %r1, !0 + 1;", "mov u32: %r1 2" },
    { "mov.u32 %r1, !(2 > 1);", "mov u32: %r1 0" },
    { "mov.u64 %rd1, -7 / 2;", "mov u64: %rd1 -3" },
    { "mov.u64 %rd1, (.u64) -8 / 2 == 0x7FFFFFFFFFFFFFFC;", "mov u64: %rd1 1" },
    { "mov.u64 %rd1, (.s64) 9223372036854775808 / -1;", "mov u64: %rd1 -9223372036854775808" },
    { "mov.u64 %rd1, -1 >> 70;", "mov u64: %rd1 -1" },
    { "mov.u32 %r1, WARP_SZ;", "mov u32: %r1 32" },
    { "mov.f32 %f1, 0F7F800000;", "mov f32: %f1 inff" },
    { "mov.f32 %f1, -0f3F800000;", "mov f32: %f1 -1f" },
    { "mov.f64 %fd1, 0d3FB999999999999A;", "mov f64: %fd1 0.1d" },
    { "mov.f64 %fd1, 1.5e-3;", "mov f64: %fd1 0.0015d" },
    /* Special registers. */
    { "mov.u32 %r1, %tid.x;", "mov u32: %r1 special0.0" },
    { "mov.u32 %r1, %nctaid.z;", "mov u32: %r1 special3.2" },
    { "mov.u32 %r1, %ntid.w;", "mov u32: %r1 0" },
    { "mov.u32 %r1, %laneid;", "mov u32: %r1 special4.0" },
    { "mov.u32 %r1, %envreg31;", "mov u32: %r1 special21.31" },
    { "mov.u32 %r1, %pm3;", "mov u32: %r1 special31.3" },
    { "mov.u32 %r1, %cluster_ctaid.y;", "mov u32: %r1 special27.1" },
    { "mov.u64 %rd1, %clock64;", "mov u64: %rd1 special17.0" },
    /* Registers of large ranges. */
    { "mov.u32 %r999999999, %r0;", "mov u32: %r999999999 %r0" },
    /* Calls of every length. */
    { "call nothing;", "call: nothing()" },
    { CALL("call.uni (q), f, (p0, p1);"), "call .uni: &q f() &p0 &p1 (1)" },
    { CALL("call.uni vprintf, (p0);"), "call .uni: vprintf(?) &p0" },
    { CALL("call (q), nothing;"), "call: &q nothing() (1)" },
    { "call nothing, ();", "call: nothing()" },
    { CALL("t: .callprototype _ (.param .b32 _); call %rd1, (p0), t;"), "call: %rd1 &p0 table0" },
    { CALL("t: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[24]) "
           ".noreturn; call (q), %rd1, (p0, p1), t;"),
      "call: &q %rd1 &p0 &p1 table0 (1)" },
    { "t: .calltargets f, nothing; call %rd1, t;", "call: %rd1 table0" },
    { "call %rd1, g;", "call: %rd1 &g" },
    /* Labels, tables. */
    { "A: bra A;", "bra: ->0" },
    { "bra.uni A; ret; ret; A: ret;", "bra .uni: ->3" },
    { "brx.idx %r1, t; t: .branchtargets A, B, A; A: ret; B:", "brx .idx: %r1 table0" },
    { "bra A; { A: ret; } ret; A:", "bra: ->3" }, /* the inner label is in another scope */
    { "{ bra A; } { A: } A: ret;", "bra: ->1" },
    { "{ bra A; { A: } ret; A: ret; } A: ret;", "bra: ->2" },
    /* Between instructions. */
    { ".pragma \"nounroll\"; ; /* a ; here */ ret; // and one ; there", "ret" },
    { ".loc 1 2 3\n.loc 1 2 3, function_name $L+4, inlined_at 1 7 8\nret;", "ret" },
    { "{ .reg .b32 %r2; .shared .b32 s[2]; { .reg .f32 x; mov.b32 x, %r2; } }", "mov b32: x %r2" },
    { "{ .param .b32 n; st.param.b32 [n], 1; }", "st param b32: [n] 1" },
    /* Unknown instructions are kept unchanged. */
    { "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2}, [%rd1], %r3;",
      "wmma global f16 .load .a .sync .aligned .row .m16n16k16: {%r1 %r2} [%rd1] %r3" },
    /* Coordinates are an operand of their own. */
    { "@%p1 tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f1, %f2}];",
      "@%p1 tex f32 f32 .other .v4: {%f1 _ _ _} [%rd1] {%f1 %f2}" },
    { "sust.b.a2d.b32.trap [%rd1, {%r0, %r1, %r2, %r2}], {%r1};",
      "sust b32 .b .other .other: [%rd1] {%r0 %r1 %r2 %r2} {%r1}" },
    { "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1], [%r1];",
      "unknown shared .async .bulk .other .other .bulk_group" },
    { "unknown %r1, (never seen) @;", "unknown" },
};

static void instructions_are_read(void)
{
    for (size_t i = 0; i < COUNT(statements); i++) {
        char source[2048];
        PUT(source, "%s%s%s", BEGIN, statements[i].statement, END);
        Module *module = parse_right(source);
        Text text = { "nothing" };
        if (module) {
            const Function *f = &module->functions[module_find(module, "k")];
            if (f->instruction_count)
                show(&text, module, f, &f->instructions[0]);
            CU_ASSERT_EQUAL(module->warning_count, 0);
        }
        same_text(statements[i].statement, text.at, statements[i].meaning);
        module_free(module);
    }
}

/* Names are resolved from the innermost scope outwards; each of these instructions moves from or to
 * the register that its name refers to. */
static void names_are_found_in_their_scope(void)
{
    static const char source[] = BEGIN "mov.b32 x, %r1;"
                                       "{ .reg .f32 x, %r<3>; mov.b32 x, %r1; mov.b32 x, %r3;"
                                       "  { .reg .f64 %r1; mov.b32 x, %r1; } mov.b32 x, %r1; }"
                                       "mov.b32 x, %r1;"
                                       "{ .reg .b64 %r<2>; mov.b32 x, %r1; }" END;
    static const struct {
        PtxType to, from;
    } want[] = {
        { TYPE_B32, TYPE_B32 }, { TYPE_F32, TYPE_F32 }, { TYPE_F32, TYPE_B32 },
        { TYPE_F32, TYPE_F64 }, { TYPE_F32, TYPE_F32 }, { TYPE_B32, TYPE_B32 },
        { TYPE_B32, TYPE_B64 },
    };
    Module *module = parse_right(source);

    if (!module)
        return;
    const Function *f = &module->functions[module_find(module, "k")];
    CU_ASSERT_EQUAL_FATAL(f->instruction_count, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        const Operand *operands = &f->operands[f->instructions[i].first];
        CU_ASSERT_EQUAL(f->registers[operands[0].index].type, want[i].to);
        CU_ASSERT_EQUAL(f->registers[operands[1].index].type, want[i].from);
    }
    /* The same name in the same scope is the same register. */
    CU_ASSERT_EQUAL(f->operands[f->instructions[0].first + 1].index,
                    f->operands[f->instructions[5].first + 1].index);
    CU_ASSERT_EQUAL(f->operands[f->instructions[1].first + 1].index,
                    f->operands[f->instructions[4].first + 1].index);
    module_free(module);
}

static void tables_hold_what_is_listed(void)
{
    Module *module = parse_right(
        BEGIN "A: ret; { t: .branchtargets B, A, C, A; B: ret; } C:"
              "p: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]);"
              "q: .calltargets nothing, missing, f;" END);

    if (!module)
        return;
    const Function *f = &module->functions[module_find(module, "k")];
    static const int targets[] = { 1, 0, 2, 0 };
    CU_ASSERT_EQUAL_FATAL(f->table_count, 3);
    CU_ASSERT_EQUAL_FATAL(f->tables[0].count, 4);
    CU_ASSERT(!memcmp(f->tables[0].entries, targets, sizeof targets));
    CU_ASSERT_EQUAL_FATAL(f->tables[1].param_count, 2);
    CU_ASSERT_EQUAL(f->tables[1].param_sizes[1], 12);
    CU_ASSERT_EQUAL(f->tables[1].param_aligns[1], 4);
    CU_ASSERT_EQUAL(f->tables[1].return_count, 1);
    CU_ASSERT_EQUAL(f->tables[1].return_sizes[0], 4);
    CU_ASSERT_EQUAL_FATAL(f->tables[2].count, 3);
    CU_ASSERT_EQUAL(f->tables[2].entries[0], module_find(module, "nothing"));
    CU_ASSERT_EQUAL(f->tables[2].entries[1], -1);
    CU_ASSERT_EQUAL(f->tables[2].entries[2], module_find(module, "f"));
    module_free(module);
}

/* ---- Classes of instructions ---- */

static void classes_are_the_pipes(void)
{
    static const struct {
        const char *statement;
        OpClass class_;
    } rows[] = {
        { "add.s32 %r1, %r1, 1;", CLASS_INT },
        { "add.f32 %f1, %f1, %f1;", CLASS_FP32 },
        { "fma.rn.f32 %f1, %f1, %f1, %f1;", CLASS_FP32 },
        { "fma.rn.f64 %fd1, %fd1, %fd1, %fd1;", CLASS_FP64 },
        { "add.f16x2 %r1, %r1, %r1;", CLASS_FP16 },
        { "fma.rn.bf16 %rs1, %rs1, %rs1, %rs1;", CLASS_FP16 },
        { "setp.lt.f32 %p1, %f1, %f2;", CLASS_INT },
        { "setp.lt.f64 %p1, %fd1, %fd2;", CLASS_FP64 },
        { "set.lt.u32.f64 %r1, %fd1, %fd2;", CLASS_FP64 },
        { "selp.f64 %fd1, %fd1, %fd2, %p1;", CLASS_INT },
        { "div.rn.f32 %f1, %f1, %f1;", CLASS_SFU },
        { "div.rn.f64 %fd1, %fd1, %fd1;", CLASS_FP64 },
        { "ex2.approx.f32 %f1, %f1;", CLASS_SFU },
        { "sqrt.rn.f64 %fd1, %fd1;", CLASS_FP64 },
        { "cvt.rn.f32.s32 %f1, %r1;", CLASS_CONVERT },
        { "cvt.u64.u32 %rd1, %r1;", CLASS_MOVE },
        { "ld.param.u64 %rd1, [k_param_0];", CLASS_MOVE },
        { "ld.global.u64 %rd1, [%rd1];", CLASS_LOAD },
        { "cp.async.ca.shared.global [%r1], [%rd1], 4;", CLASS_LOAD },
        { "cp.async.commit_group;", CLASS_FENCE },
        { "cp.async.wait_group 1;", CLASS_FENCE },
        { "mma.sync %r1;", CLASS_TENSOR },
        { "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd1], {%r1}, %r2;", CLASS_STORE },
        { "wgmma.fence.sync.aligned;", CLASS_NOTHING },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char source[2048];
        PUT(source, "%s%s%s", BEGIN, rows[i].statement, END);
        Module *module = parse_right(source);
        if (module)
            CU_ASSERT_EQUAL(class_of(&module->functions[module_find(module, "k")].instructions[0]),
                            rows[i].class_);
        module_free(module);
    }
}

static void types_have_sizes(void)
{
    static const int sizes[TYPES] = { 0, 0, 1, 2, 4, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8,
                                      2, 4, 2, 4, 4, 8, 4,  8, 1, 1, 2, 2, 4, 4 };

    for (int type = 0; type < TYPES; type++) {
        CU_ASSERT_EQUAL(type_size((PtxType) type), sizes[type]);
        CU_ASSERT_EQUAL(type_is_signed((PtxType) type), type >= TYPE_S8 && type <= TYPE_S64);
        CU_ASSERT_EQUAL(type_is_float((PtxType) type), type >= TYPE_F16 && type <= TYPE_E5M2X2);
    }
}

CU_SuiteInfo test_sim_parse = {
    .pName = "sim_parse",
    .pTests =
        (CU_TestInfo[]){
            { "instructions are read", instructions_are_read },
            { "names are found in their scope", names_are_found_in_their_scope },
            { "tables hold the listed entries", tables_hold_what_is_listed },
            { "classes are the pipes", classes_are_the_pipes },
            { "types have sizes", types_have_sizes },
            CU_TEST_INFO_NULL,
        },
};
