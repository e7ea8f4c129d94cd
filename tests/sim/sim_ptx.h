/* sim_ptx.h - PTX around the snippets of the tests, and the parsed result as text.
 *
 * Instructions have a short textual form, so that a row of a table is a text and its expected
 * meaning.
 */
#ifndef SIM_SIM_PTX_H
#define SIM_SIM_PTX_H

#include "sim/ptx/module.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.7\n.target sm_80\n.address_size 64\n"

/* A kernel around statements, which begin in line 10. */
#define BEGIN                                                                                      \
    HEAD ".global .u32 g[4]; .shared .b8 sh[64]; .extern .shared .b8 sd[];\n"                      \
         ".func (.param .b32 r) f (.param .b32 a, .param .b64 b); .func nothing;\n"                \
         ".visible .entry k (.param .u64 k_param_0, .param .b32 n) {\n"                            \
         ".reg .pred %p<5>; .reg .b16 %rs<5>; .reg .b32 %r<1000000000>, x;\n"                      \
         ".reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<5>; .reg .v4 .f32 v;\n"               \
         ".local .b8 depot[16];\n"
#define END "\n}\n"

/* ---- The parsed result as text ---- */

static const char *const ptx_ops[] = {
#define OP(name, ...)              #name,
#define OP2(enumerator, name, ...) #enumerator,
#include "sim/ptx/ops.def"
#include "rows.h"
#undef OP
#undef OP2
};

static const char *const mod_names[] = {
#define MOD(name) #name,
    PTX_MODS(MOD)
#undef MOD
};

static const char *const type_names[] = { "none",   "pred",   "b8",     "b16",   "b32",   "b64",
                                          "b128",   "u8",     "u16",    "u32",   "u64",   "s8",
                                          "s16",    "s32",    "s64",    "f16",   "f16x2", "bf16",
                                          "bf16x2", "f32",    "f64",    "tf32",  "f32x2", "e4m3",
                                          "e5m2",   "e4m3x2", "e5m2x2", "u16x2", "s16x2" };

static const char *const space_names[] = {
    "generic", "param", "const", "global", "shared", "local"
};

typedef struct Text {
    char at[4096];
} Text;

static inline void show_operand(Text *text, const Module *module, const Function *f,
                                const Operand *o);

static inline void show_address(Text *text, const Module *module, const Function *f,
                                const Operand *o)
{
    Name name = { "", 0 };

    if (o->is_register)
        name = f->registers[o->index].name;
    else if (o->index >= 0)
        name = module->variables[o->index].name;
    APPEND(text->at,
           o->index < 0 ? "[%.*s%ld]"
           : o->offset  ? "[%.*s%+ld]"
                        : "[%.*s]",
           name.length, name.at, (long) o->offset);
}

static inline void show_vector(Text *text, const Module *module, const Function *f,
                               const Operand *o)
{
    APPEND(text->at, "{");
    for (int i = 0; i < o->count; i++) {
        APPEND(text->at, i ? " " : "");
        show_operand(text, module, f, &f->operands[o->first + i]);
    }
    APPEND(text->at, "}");
}

static inline void show_operand(Text *text, const Module *module, const Function *f,
                                const Operand *o)
{
    double value;

    memcpy(&value, &o->bits, sizeof value);
    switch (o->kind) {
    case OPERAND_REGISTER:
        APPEND(text->at, "%s%.*s", o->negated ? "!" : "", f->registers[o->index].name.length,
               f->registers[o->index].name.at);
        break;
    case OPERAND_INTEGER:
        APPEND(text->at, "%lld", (long long) o->bits);
        break;
    case OPERAND_FLOAT:
        APPEND(text->at, "%.9g%s", value, o->single ? "f" : "d");
        break;
    case OPERAND_SPECIAL:
        APPEND(text->at, "special%d.%d", o->special, o->component);
        break;
    case OPERAND_VARIABLE:
        APPEND(text->at, o->offset ? "&%.*s%+ld" : "&%.*s", module->variables[o->index].name.length,
               module->variables[o->index].name.at, (long) o->offset);
        break;
    case OPERAND_FUNCTION:
        APPEND(text->at, "%.*s%s", o->name.length, o->name.at, o->index < 0 ? "(?)" : "()");
        break;
    case OPERAND_LABEL:
        APPEND(text->at, "->%d", o->index);
        break;
    case OPERAND_ADDRESS:
        show_address(text, module, f, o);
        break;
    case OPERAND_VECTOR:
        show_vector(text, module, f, o);
        break;
    case OPERAND_DISCARD:
        APPEND(text->at, "_");
        break;
    case OPERAND_TABLE:
        APPEND(text->at, "table%d", o->index);
        break;
    default:
        APPEND(text->at, "NONE");
    }
}

/* "@!%p1 ld global f32 v4 nc: {%f1 %f2} [%rd1+8]" */
static inline void show(Text *text, const Module *module, const Function *f, const Instruction *in)
{
    text->at[0] = 0;
    if (in->guard >= 0)
        APPEND(text->at, "@%s%.*s ", in->guard_negated ? "!" : "",
               f->registers[in->guard].name.length, f->registers[in->guard].name.at);
    APPEND(text->at, "%s", ptx_ops[in->op]);
    if (in->space)
        APPEND(text->at, " %s", space_names[in->space]);
    for (int i = 0; i < in->type_count; i++)
        APPEND(text->at, " %s", type_names[in->types[i]]);
    for (int i = 0; i < in->mod_count; i++)
        APPEND(text->at, " .%s", mod_names[in->mods[i]]);
    APPEND(text->at, in->count ? ":" : "");
    for (int i = 0; i < in->count; i++) {
        APPEND(text->at, " ");
        show_operand(text, module, f, &f->operands[in->first + i]);
    }
    if (in->call_returns)
        APPEND(text->at, " (%d)", in->call_returns);
}

static inline Module *parse(const char *text, char *why, size_t size)
{
    return module_parse(text, strlen(text), why, size);
}

/* The module of a valid text; prints the reason if it is refused. */
static inline Module *parse_right(const char *text)
{
    char why[300] = "";
    Module *module = parse(text, why, sizeof why);

    if (!module)
        printf("\n%s\nin: %s\n", why, text);
    CU_ASSERT_PTR_NOT_NULL(module);
    return module;
}

static inline void same_text(const char *source, const char *got, const char *want)
{
    if (strcmp(got, want))
        printf("\n%s\n  gives: %s\n  not:   %s\n", source, got, want);
    CU_ASSERT_STRING_EQUAL(got, want);
}

/* `unit`, repeated `count` times, between two other texts. */
static inline char *repeated(const char *before, const char *unit, size_t count, const char *after)
{
    size_t unit_length = strlen(unit), length = strlen(before);
    char *text = xmalloc(length + unit_length * count + strlen(after) + 1);

    memcpy(text, before, length);
    for (size_t i = 0; i < count; i++, length += unit_length)
        memcpy(text + length, unit, unit_length);
    memcpy(text + length, after, strlen(after) + 1);
    return text;
}

#endif
