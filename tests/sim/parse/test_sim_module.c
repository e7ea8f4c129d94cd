/* test_sim_module.c - declarations in PTX: variables with their values, functions, source lines;
 * and whole texts from nvcc.
 */
#include "sim/sim_ptx.h"

#include <glob.h>

/* ---- Variables ---- */

static const struct {
    const char *declaration, *meaning; /* meaning: of the last variable */
} variables[] = {
    { ".global .u32 x;", "x global u32 4/4" },
    { ".visible .global .align 16 .f32 x[3][5];", "x global f32 60/16 visible" },
    { ".extern .shared .align 16 .b8 x[];", "x shared b8 0/16 extern" },
    { ".global .attribute(.managed) .align 4 .u32 x;", "x global u32 4/4 managed" },
    { ".global .attribute(.unified(1, 2), .managed) .u32 x;", "x global u32 4/4 managed" },
    { ".weak .const .b64 x[2];", "x const b64 16/8 visible" },
    { ".const[3] .b64 x[2];", "x const b64 16/8" },
    { ".global .v4 .f32 x[2];", "x global f32 32/16" },
    { ".global .u32 y, x[2], z;", "z global u32 4/4" },
    { ".extern .global .u32 x; .global .u32 y; .global .u32 x = 7;", "y global u32 4/4" },
    { ".extern .global .u32 x; .visible .global .u32 x = 7;",
      "x global u32 4/4 visible = 07000000" },
    { ".common .global .u32 x; .common .global .u32 x;", "x global u32 4/4 visible" },
    { ".global .b8 x[8589934592];", "x global b8 8589934592/1" },
    /* Values. */
    { ".global .u32 x = 258;", "x global u32 4/4 = 02010000" },
    { ".global .u32 x = {-1};", "x global u32 4/4 = ffffffff" },
    { ".global .b8 x[4] = {1, 2};", "x global b8 4/1 = 01020000" },
    { ".global .b8 x[4] = {};", "x global b8 4/1 = 00000000" },
    { ".global .b8 x[] = {1, 2, 3};", "x global b8 3/1 = 010203" },
    { ".global .u16 x[][2] = {{1, 2}, {3}};", "x global u16 8/2 = 0100020003000000" },
    { ".global .b8 x[2][3] = {{1, 2}, {3, 4, 5}};", "x global b8 6/1 = 010200030405" },
    { ".global .b8 x[2][3] = {1, {3, 4, 5}};", "x global b8 6/1 = 010000030405" },
    { ".global .b8 x[2][3] = {1, 2, 3, 4};", "x global b8 6/1 = 010203040000" },
    { ".global .v2 .b8 x[2] = {{1, 2}, {3, 4}};", "x global b8 4/2 = 01020304" },
    { ".global .f32 x[2] = {1.5, 0f3F800000};", "x global f32 8/4 = 0000c03f0000803f" },
    { ".global .f32 x = 1;", "x global f32 4/4 = 0000803f" },
    { ".global .f64 x = 0d3FF0000000000000;", "x global f64 8/8 = 000000000000f03f" },
    { ".global .b32 x = 0f3F800000;", "x global b32 4/4 = 0000803f" },
    /* Addresses. */
    { ".global .u32 y; .global .u64 x = y;", "x global u64 8/8 = 0000000000000000 @0:8 y" },
    { ".global .u32 y; .global .u64 x[2] = {generic(y), y+4};",
      "x global u64 16/8 = 00000000000000000000000000000000 @0:8 generic y @8:8 y+4" },
    { ".global .u32 y; .global .u64 x = generic(y+4)+8;",
      "x global u64 8/8 = 0000000000000000 @0:8 generic y+12" },
    { ".func f; .global .u64 x[2] = {5, f};",
      "x global u64 16/8 = 05000000000000000000000000000000 @8:8 f()" },
    { ".global .u32 y; .global .b8 x[9] = {1, 0xFF(generic(y)+8), 0xFF00(generic(y)+8)};",
      "x global b8 9/1 = 010000000000000000 @1:8 generic y+8" },
};

static void show_relocations(Text *text, const Module *module, const Variable *variable)
{
    for (int i = 0; i < variable->relocation_count; i++) {
        const Relocation *r = &variable->relocations[i];
        Name name = r->variable >= 0 ? module->variables[r->variable].name
                                     : module->functions[r->function].name;
        APPEND(text->at, " @%zu:%d %s%.*s%s", r->offset, r->size, r->generic ? "generic " : "",
               name.length, name.at, r->variable >= 0 ? "" : "()");
        if (r->addend)
            APPEND(text->at, "%+ld", (long) r->addend);
    }
}

/* "x global u32 4/4 extern = 07000000 @0:8 y+4": size/align, bytes, addresses */
static void show_variable(Text *text, const Module *module, const Variable *variable)
{
    PUT(text->at, "%.*s %s %s %zu/%d%s%s%s", variable->name.length, variable->name.at,
        space_names[variable->space], type_names[variable->type], variable->size, variable->align,
        variable->is_extern ? " extern" : "", variable->is_visible ? " visible" : "",
        variable->is_managed ? " managed" : "");
    if (variable->initial)
        APPEND(text->at, " = ");
    for (size_t i = 0; variable->initial && i < variable->size; i++)
        APPEND(text->at, "%02x", variable->initial[i]);
    show_relocations(text, module, variable);
}

static void variables_are_read(void)
{
    for (size_t i = 0; i < COUNT(variables); i++) {
        char source[1024];
        PUT(source, "%s%s", HEAD, variables[i].declaration);
        Module *module = parse_right(source);
        Text text = { "nothing" };
        if (module && module->variable_count)
            show_variable(&text, module, &module->variables[module->variable_count - 1]);
        same_text(variables[i].declaration, text.at, variables[i].meaning);
        module_free(module);
    }
}

static void variables_know_their_function(void)
{
    Module *module = parse_right(HEAD ".shared .b32 a; .entry k (.param .b32 b) { .shared .b32 c;"
                                      " { .local .b32 d; .global .b32 e; .param .b32 f; } }");
    static const struct {
        const char *name;
        Space space;
        int function;
    } want[] = {
        { "a", SPACE_SHARED, -1 }, { "b", SPACE_PARAM, 0 },   { "c", SPACE_SHARED, 0 },
        { "d", SPACE_LOCAL, 0 },   { "e", SPACE_GLOBAL, -1 }, { "f", SPACE_PARAM, 0 },
    };

    if (!module)
        return;
    CU_ASSERT_EQUAL_FATAL(module->variable_count, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        CU_ASSERT(name_is(module->variables[i].name, want[i].name));
        CU_ASSERT_EQUAL(module->variables[i].space, want[i].space);
        CU_ASSERT_EQUAL(module->variables[i].function, want[i].function);
    }
    module_free(module);
}

/* ---- Functions ---- */

static const struct {
    const char *text, *meaning; /* all functions: name, kind, results, parameters, instructions */
} functions[] = {
    { ".entry k { ret; }", "k entry ()->() 1" },
    { ".visible .entry k () { }", "k entry ()->() 0" },
    { ".visible .entry k (.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[32])"
      " .maxntid 256, 2, 1 .minnctapersm 2 { ret; }",
      "k entry (a:8/8 b:32/8)->() 1 most 256,2,1" },
    { ".entry k (.param .b32 a) .reqntid 64 .maxnreg 32 { ret; }",
      "k entry (a:4/4)->() 1 required 64,1,1" },
    { ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)\n;",
      "vprintf extern (a:8/8 b:8/8)->(r:4/4) 0" },
    { ".func (.param .b32 r) f (.param .b32 a); .func g;"
      ".func (.param .b32 s) f (.param .b32 b) { ret; ret; }",
      "f func (b:4/4)->(s:4/4) 2; g extern ()->() 0" },
    { ".weak .func f (.param .b32 a) .noreturn { trap; }", "f func (a:4/4)->() 1" },
    { ".func f (.param .b32 a, .param .align 8 .b8 more[]);", "f extern (a:4/4 more:0/8)->() 0" },
    /* Parameters in registers: one load, and one store before each return and at the end. */
    { ".func (.reg .b32 r) f (.reg .b32 a, .param .b32 b) { .reg .pred p; @p ret; mov.b32 r, a; }",
      "f func (a:4/4 b:4/4)->(r:4/4) 5" },
};

static void show_params(Text *text, const Module *module, const int *params, int count)
{
    APPEND(text->at, "(");
    for (int i = 0; i < count; i++) {
        const Variable *variable = &module->variables[params[i]];
        APPEND(text->at, "%s%.*s:%zu/%d", i ? " " : "", variable->name.length, variable->name.at,
               variable->size, variable->align);
    }
    APPEND(text->at, ")");
}

static void show_threads(Text *text, const char *word, const int threads[3])
{
    if (threads[0])
        APPEND(text->at, " %s %d,%d,%d", word, threads[0], threads[1], threads[2]);
}

static void show_function(Text *text, const Module *module, const Function *f)
{
    APPEND(text->at, "%.*s %s ", f->name.length, f->name.at,
           f->is_entry    ? "entry"
           : f->is_extern ? "extern"
                          : "func");
    show_params(text, module, f->params, f->param_count);
    APPEND(text->at, "->");
    show_params(text, module, f->returns, f->return_count);
    APPEND(text->at, " %d", f->instruction_count);
    show_threads(text, "required", f->required_threads);
    show_threads(text, "most", f->most_threads);
}

static void functions_are_read(void)
{
    for (size_t i = 0; i < COUNT(functions); i++) {
        char source[1024];
        PUT(source, "%s%s", HEAD, functions[i].text);
        Module *module = parse_right(source);
        Text text = { "" };
        for (int f = 0; module && f < module->function_count; f++) {
            APPEND(text.at, f ? "; " : "");
            show_function(&text, module, &module->functions[f]);
        }
        same_text(functions[i].text, text.at, functions[i].meaning);
        module_free(module);
    }
}

static const struct {
    const char *text, *instructions; /* those of the module's last function */
} moves[] = {
    { ".func (.reg .b32 r) f (.reg .b32 a, .param .b32 b) { .reg .pred p; @p ret; mov.b32 r, a; }",
      "ld param b32: a [a]; @p st param b32: [r] r; @p ret; mov b32: r a; st param b32: [r] r; " },
    { ".func (.reg .b32 r, .reg .b64 s) f (.reg .b32 a, .reg .b32 b);"
      ".entry k { .reg .pred p; .reg .b32 x; .reg .b64 y; @p call (x, y), f, (x, 3); }",
      "@p st param b32: [x] x; @p st param b32: [3] 3; @p call: &x &y f() &x &3 (2); "
      "@p ld param b32: x [x]; @p ld param b64: y [y]; " },
};

static void parameters_in_registers_are_moved(void)
{
    for (size_t i = 0; i < COUNT(moves); i++) {
        char source[1024];
        PUT(source, "%s%s", HEAD, moves[i].text);
        Module *module = parse_right(source);
        Text all = { "" };
        const Function *f = module ? &module->functions[module->function_count - 1] : NULL;
        for (int k = 0; f && k < f->instruction_count; k++) {
            Text text;
            show(&text, module, f, &f->instructions[k]);
            APPEND(all.at, "%s; ", text.at);
        }
        same_text(moves[i].text, all.at, moves[i].instructions);
        module_free(module);
    }
}

/* ---- The module, lines ---- */

static void module_says_what_it_is(void)
{
    Module *module =
        parse_right("// comment\n.version 9.1\n.target sm_90a, debug\n.address_size 64\n"
                    ".section .debug_str { a: .b8 1, 2 }\n.pragma \"x\";");

    if (!module)
        return;
    CU_ASSERT_EQUAL(module->isa_major, 9);
    CU_ASSERT_EQUAL(module->isa_minor, 1);
    CU_ASSERT_EQUAL(module->target, 90);
    CU_ASSERT_EQUAL(module->warning_count, 0);
    CU_ASSERT_EQUAL(module_find(module, "k"), -1);
    module_free(module);
}

/* Code inlined from the toolkit's headers is reported at the line where it was inlined; the cost of
 * code from any header is charged to the call in the .cu file, if there is one. */
static void lines_are_the_users(void)
{
    static const char source[] =
        HEAD ".entry k () {\nret;\n.loc 1 5 1\nret;\nret;\n"
             ".loc 2 9 1, function_name $L0, inlined_at 1 6 2\nret;\n"
             ".loc 3 8 1, function_name $L0+3, inlined_at 2 9 1\nret;\n"
             ".loc 4 2 1, inlined_at 1 7 1\nret;\n"
             ".loc 4 3 1, inlined_at 4 2 1\nret;\n"
             ".loc 4 8 1\nret;\n"
             ".loc 4 0 5\nret;\n" /* code of several lines */
             ".loc 9 1 1\nret;\n}\n"
             ".file 1 \"a/k.cu\", 123, 456\n"
             ".file 2 \"/usr/local/cuda/targets/x86_64-linux/include/x.hpp\"\n"
             ".file 3 \"/usr/local/cuda/targets/x86_64-linux/include/y.hpp\"\n"
             ".file 4 \"a/\\\"mine\\\".h\"\n"
             ".file 5 \"m\\303\\274ller/\\1\\\\.cu\"\n";
    static const int want[][5] = { { 0, 0, 5, 0, 0 },  { 1, 5, 7, 1, 5 },  { 1, 5, 8, 1, 5 },
                                   { 1, 6, 10, 1, 6 }, { 1, 6, 12, 1, 6 }, { 4, 2, 14, 1, 7 },
                                   { 4, 3, 16, 1, 7 }, { 4, 8, 18, 4, 8 }, { 4, 8, 20, 4, 8 },
                                   { 0, 0, 22, 0, 0 } };
    Module *module = parse_right(source);

    if (!module)
        return;
    for (size_t i = 0; i < COUNT(want); i++) {
        const Instruction *in = &module->functions[0].instructions[i];
        CU_ASSERT_EQUAL(in->file, want[i][0]);
        CU_ASSERT_EQUAL(in->line, want[i][1]);
        CU_ASSERT_EQUAL(in->ptx_line, want[i][2]);
        CU_ASSERT_EQUAL(in->charged_file, want[i][3]);
        CU_ASSERT_EQUAL(in->charged_line, want[i][4]);
    }
    CU_ASSERT_EQUAL(module->file_count, 6);
    CU_ASSERT_PTR_NULL(module->files[0]);
    CU_ASSERT_STRING_EQUAL(module->files[4], "a/\"mine\".h");
    CU_ASSERT_STRING_EQUAL(module->files[5], "m\xc3\xbcller/1\\.cu");
    module_free(module);
}

static void unknown_directives_are_skipped(void)
{
    static const struct {
        const char *text, *warning;
    } rows[] = {
        { ".alias a, b;", ".alias is skipped (PTX line 4)" },
        { ".new_one 1 2\n", ".new_one is skipped (PTX line 4)" },
        { ".new_one (1,\n2)\n", ".new_one is skipped (PTX line 4)" },
        { ".new_one { a { b } ; }", ".new_one is skipped (PTX line 4)" },
        { ".global .texref t;", ".texref is skipped (PTX line 4)" },
        { ".visible .new_one x;", ".new_one is skipped (PTX line 4)" },
        { ".func f .new_one 3;", ".new_one is skipped (PTX line 4)" },
        { ".new_one 1;\n.new_one 2;", ".new_one is skipped (PTX line 4)" },
        { ".entry e { .new_one 1 2\n ret; }", ".new_one is skipped (PTX line 4)" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char source[1024];
        PUT(source, "%s%s.entry k { ret; }", HEAD, rows[i].text);
        Module *module = parse_right(source);
        if (!module)
            continue;
        CU_ASSERT_EQUAL(module->warning_count, 1);
        if (module->warning_count)
            same_text(rows[i].text, module->warnings[0], rows[i].warning);
        int k = module_find(module, "k");
        CU_ASSERT(k >= 0 && module->functions[k].instruction_count == 1);
        module_free(module);
    }
}

/* ---- Output of nvcc ---- */

static bool operand_is_sound(const Module *module, const Function *f, const Operand *o,
                             bool element)
{
    switch (o->kind) {
    case OPERAND_REGISTER:
        return o->index >= 0 && o->index < f->register_count;
    case OPERAND_VARIABLE:
        return o->index >= 0 && o->index < module->variable_count;
    case OPERAND_FUNCTION:
        return o->index >= -1 && o->index < module->function_count;
    case OPERAND_LABEL:
        return o->index >= 0 && o->index <= f->instruction_count;
    case OPERAND_TABLE:
        return o->index >= 0 && o->index < f->table_count;
    case OPERAND_ADDRESS:
        return o->index >= -1 &&
               o->index < (o->is_register ? f->register_count : module->variable_count);
    case OPERAND_VECTOR:
        return !element && o->first >= 0 && o->count > 0 && o->count <= f->operand_count - o->first;
    case OPERAND_SPECIAL:
        return o->special <= SPECIAL_UNKNOWN;
    default:
        return o->kind == OPERAND_INTEGER || o->kind == OPERAND_FLOAT || o->kind == OPERAND_DISCARD;
    }
}

static bool instruction_is_sound(const Module *module, const Function *f, const Instruction *in)
{
    bool sound = in->guard >= -1 && in->guard < f->register_count && in->op < OPS &&
                 in->first >= 0 && in->count <= f->operand_count - in->first && in->file >= 0 &&
                 (in->file < module->file_count || !in->file);

    for (int i = 0; sound && i < in->count; i++) {
        const Operand *o = &f->operands[in->first + i];
        sound = operand_is_sound(module, f, o, false);
        for (int e = 0; sound && o->kind == OPERAND_VECTOR && e < o->count; e++)
            sound = operand_is_sound(module, f, &f->operands[o->first + e], true);
    }
    return sound;
}

static void read_real(const char *path)
{
    size_t size;
    char *text = read_file(path, 64 << 20, &size), why[300] = "";
    Module *module = text ? module_parse(text, size, why, sizeof why) : NULL;
    bool sound = module != NULL;

    for (int i = 0; module && i < module->function_count; i++)
        for (int k = 0; k < module->functions[i].instruction_count; k++)
            sound &= instruction_is_sound(module, &module->functions[i],
                                          &module->functions[i].instructions[k]);
    for (int i = 0; module && i < module->warning_count; i++)
        printf("\n%s: %s\n", path, module->warnings[i]);
    if (!sound)
        printf("\n%s: %s\n", path, module ? "an index is out of range" : why);
    CU_ASSERT(sound);
    CU_ASSERT(module && !module->warning_count);
    module_free(module);
    free(text);
}

/* The PTX of the object files of nvcc -rdc=true, one after another. */
static void texts_are_linked(void)
{
    Module *module = parse_right(
        HEAD ".extern .func f; .extern .global .u32 shared_by_both; .global .u32 own = 1;"
             ".visible .entry a { call.uni f; ret; }\n" HEAD
             ".global .u32 own = 2; .visible .global .u32 shared_by_both = 3;"
             ".weak .global .u32 once = 4; .visible .func f { ret; }"
             ".func helper { ret; } .weak .func g { ret; }\n" HEAD
             ".weak .global .u32 once = 5; .weak .func g { ret; ret; }"
             ".func helper { ret; ret; ret; }\n");

    if (!module)
        return;
    CU_ASSERT_EQUAL(module->function_count, 5); /* f, a, helper, g, helper */
    CU_ASSERT_FALSE(module->functions[0].is_extern);
    CU_ASSERT_EQUAL(module->functions[3].instruction_count, 1);
    CU_ASSERT_EQUAL(module->functions[4].instruction_count, 3);
    CU_ASSERT_EQUAL(module->variable_count, 4); /* shared_by_both, own, own, once */
    CU_ASSERT_FALSE(module->variables[0].is_extern);
    CU_ASSERT_EQUAL(module->variables[2].initial[0], 2);
    CU_ASSERT_EQUAL(module->variables[3].initial[0], 4);
    module_free(module);
}

/* The files kept here, and those in the folder $PTX_FOLDER if it is set. */
static void real_ptx_is_read(void)
{
    const char *more = getenv("PTX_FOLDER");
    char pattern[1024];
    glob_t files = { 0 };

    glob("tests/sim/ptx/*.ptx", 0, NULL, &files);
    PUT(pattern, "%s/*.ptx", more ? more : "");
    if (more)
        glob(pattern, GLOB_APPEND, NULL, &files);
    CU_ASSERT(files.gl_pathc >= 20);
    for (size_t i = 0; i < files.gl_pathc; i++)
        read_real(files.gl_pathv[i]);
    globfree(&files);
}

static void variables_have_their_names_of_the_source(void)
{
    static const char *const rows[][2] = {
        { "tile", "tile" },
        { "_ZZ9transposePfE4tile", "tile" },
        { "_ZZ10sum_kernelPfPKflE4part", "part" },
        { "_ZZ9AWBarrierILi16EEvPfPKfS2_iiE3bar", "bar" }, /* S2_ once passed for a length */
        { "_ZZ1kPfE12twelve_chars", "twelve_chars" },
        { "_ZZ1kPfE2a9", "a9" },
        { "_ZZ1kPfE4lmem_$_1", "lmem" },
        { "lmem_$_12", "lmem" },
        { "_$_1", "_$_1" },
        { "_Z5total", "total" },
        { "_ZN1n5countE", "_ZN1n5countE" },
        { "_Z0", "_Z0" },
        { "_Z99999999999x", "_Z99999999999x" },
        { "v3abc", "v3abc" },
        { "_", "_" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const Name name = name_in_source((Name){ rows[i][0], (int) strlen(rows[i][0]) });
        CU_ASSERT(name_is(name, rows[i][1]));
    }
}

/* Parsing is too fast for a user to notice: 933 instructions take less than 1 ms on an idle
 * machine. The limit here leaves room for a slow one. */
static void reading_is_fast(void)
{
    char *text = repeated(BEGIN, "fma.rn.f32 %f1, %f2, %f3, %f4; .loc 1 2 3\n", 25000, END);
    double begin = now_s();
    Module *module = parse_right(text);

    CU_ASSERT(now_s() - begin < 1);
    module_free(module);
    free(text);
}

CU_SuiteInfo test_sim_module = {
    .pName = "sim_module",
    .pTests =
        (CU_TestInfo[]){
            { "variables are read", variables_are_read },
            { "variables know their function", variables_know_their_function },
            { "functions are read", functions_are_read },
            { "parameters in registers are moved", parameters_in_registers_are_moved },
            { "a module says what it is", module_says_what_it_is },
            { "lines are those of the user's source", lines_are_the_users },
            { "unknown directives are skipped", unknown_directives_are_skipped },
            { "texts are linked", texts_are_linked },
            { "real PTX is read", real_ptx_is_read },
            { "variables have their names of the source",
              variables_have_their_names_of_the_source },
            { "reading is fast", reading_is_fast },
            CU_TEST_INFO_NULL,
        },
};
