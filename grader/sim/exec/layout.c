/* layout.c - assigns places to a function's variables and registers.
 *
 * Parameters of a kernel start at offset 0, in their declared order and alignment, as the runtime
 * packs them. Shared memory holds the variables that the kernel can reach: its own, those of
 * functions that it may call, and then the external ones, which share the dynamic part. A called
 * function uses the kernel's layout.
 */
#include "sim/exec/code.h"

#include <stdlib.h>
#include <string.h>

bool is_kernel_param(const CodeMaker *maker, int variable)
{
    if (!maker->function->is_entry)
        return false;
    for (int i = 0; i < maker->function->param_count; i++)
        if (maker->function->params[i] == variable)
            return true;
    return false;
}

/* Places the variable at offset `bytes`, aligned, and advances it. */
static bool place(CodeMaker *maker, int variable, int *bytes, int most)
{
    const Variable *v = &maker->module->variables[variable];
    int align = v->align > 0 && v->align <= 1024 ? v->align : 1;
    int at = (*bytes + align - 1) / align * align;

    if (v->size > (size_t) most || at > most - (int) v->size)
        return refuse(maker, "%.*s is too large", v->name.length, v->name.at);
    maker->code->variable_offset[variable] = at;
    *bytes = at + (int) v->size;
    return true;
}

/* ---- Parameters ---- */

static bool place_params(CodeMaker *maker, int function)
{
    const Function *f = maker->function;
    Code *code = maker->code;
    int bytes = 0;

    for (int i = 0; f->is_entry && i < f->param_count; i++)
        if (!place(maker, f->params[i], &bytes, MOST_PARAM))
            return false;
    for (int i = 0; i < maker->module->variable_count; i++) {
        const Variable *v = &maker->module->variables[i];
        if (v->space == SPACE_PARAM && v->function == function && !is_kernel_param(maker, i) &&
            !place(maker, i, &code->param_bytes, MOST_PARAM))
            return false;
    }
    code->param_bytes = (code->param_bytes + 15) / 16 * 16;
    return true;
}

/* ---- Shared memory ---- */

/* The functions and variables that a kernel can reach. */
typedef struct Reach {
    const Module *module;
    bool *variables, *functions;
    int *open; /* functions still to be visited */
    int open_count;
    bool reserved; /* a function asks where the reserved shared memory is */
} Reach;

static void reach_function(Reach *reach, int function)
{
    if (function < 0 || reach->functions[function])
        return;
    reach->functions[function] = true;
    reach->open[reach->open_count++] = function;
}

/* A call through a register may go to any function. */
static void reach_all(Reach *reach)
{
    for (int i = 0; i < reach->module->function_count; i++)
        if (!reach->module->functions[i].is_entry)
            reach_function(reach, i);
}

static void reach_from(Reach *reach, const Function *function)
{
    for (int i = 0; i < function->operand_count; i++) {
        const Operand *operand = &function->operands[i];
        if (operand->kind == OPERAND_FUNCTION)
            reach_function(reach, operand->index);
        reach->reserved |=
            operand->kind == OPERAND_SPECIAL && operand->special == SPECIAL_RESERVED_SMEM;
        if ((operand->kind == OPERAND_VARIABLE ||
             (operand->kind == OPERAND_ADDRESS && !operand->is_register)) &&
            operand->index >= 0)
            reach->variables[operand->index] = true;
    }
    for (int i = 0; i < function->instruction_count; i++) {
        const Instruction *in = &function->instructions[i];
        if (in->op == OP_call && in->call_returns < in->count &&
            function->operands[in->first + in->call_returns].kind == OPERAND_REGISTER)
            reach_all(reach);
    }
}

static bool is_dynamic(const Variable *v)
{
    return v->space == SPACE_SHARED && v->is_extern;
}

static void place_dynamic(CodeMaker *maker)
{
    const Module *module = maker->module;
    int align = 16, at = maker->code->static_shared_bytes;

    for (int i = 0; i < module->variable_count; i++)
        if (is_dynamic(&module->variables[i]) && module->variables[i].align > align &&
            module->variables[i].align <= 1024)
            align = module->variables[i].align;
    at = (at + align - 1) / align * align;
    for (int i = 0; i < module->variable_count; i++)
        if (is_dynamic(&module->variables[i]))
            maker->code->variable_offset[i] = at;
    maker->code->dynamic_shared_at = at;
}

static bool place_reached(CodeMaker *maker, const bool *reached)
{
    for (int i = 0; i < maker->module->variable_count; i++) {
        const Variable *v = &maker->module->variables[i];
        if (v->space == SPACE_SHARED && reached[i] && !v->is_extern &&
            !place(maker, i, &maker->code->static_shared_bytes, MOST_SHARED))
            return false;
    }
    place_dynamic(maker);
    return true;
}

static bool place_shared(CodeMaker *maker, int function)
{
    const Module *module = maker->module;
    Reach reach = { .module = module,
                    .variables = calloc((size_t) module->variable_count + 1, sizeof(bool)),
                    .functions = calloc((size_t) module->function_count, sizeof(bool)),
                    .open = calloc((size_t) module->function_count, sizeof(int)) };
    bool well = reach.variables && reach.functions && reach.open;

    if (well) {
        reach_function(&reach, function);
        while (reach.open_count)
            reach_from(&reach, &module->functions[reach.open[--reach.open_count]]);
        maker->code->uses_reserved = reach.reserved;
        well = place_reached(maker, reach.variables);
    } else {
        refuse(maker, "out of memory");
    }
    free(reach.variables);
    free(reach.functions);
    free(reach.open);
    return well;
}

static void copy_shared(CodeMaker *maker, const Code *kernel)
{
    for (int i = 0; i < maker->module->variable_count; i++)
        if (maker->module->variables[i].space == SPACE_SHARED)
            maker->code->variable_offset[i] = kernel->variable_offset[i];
    maker->code->static_shared_bytes = kernel->static_shared_bytes;
    maker->code->dynamic_shared_at = kernel->dynamic_shared_at;
    maker->code->layout = kernel;
}

/* ---- Local memory ---- */

static bool place_local(CodeMaker *maker, int function)
{
    Code *code = maker->code;

    for (int i = 0; i < maker->module->variable_count; i++) {
        const Variable *v = &maker->module->variables[i];
        if (v->space == SPACE_LOCAL && v->function == function) {
            if (!place(maker, i, &code->local_bytes, MOST_LOCAL) || code->planes > MOST_PLANES)
                return refuse(maker, "%.*s: too many local variables", maker->function->name.length,
                              maker->function->name.at);
            code->local_plane[i] = code->planes;
            code->planes += 2;
        }
    }
    code->local_bytes = (code->local_bytes + 15) / 16 * 16;
    return true;
}

/* ---- Registers ---- */

static void place_specials(CodeMaker *maker)
{
    Code *code = maker->code;

    for (int i = 0; i < maker->function->operand_count; i++) {
        const Operand *operand = &maker->function->operands[i];
        int component = operand->component;
        if (operand->kind != OPERAND_SPECIAL || component < 0 || component > 2 ||
            !special_bytes(operand->special))
            continue;
        int *plane = &code->special_plane[operand->special * 3 + component];
        if (*plane < 0) {
            *plane = code->planes;
            code->planes += special_bytes(operand->special) / 4;
        }
    }
}

static void place_predicates(CodeMaker *maker, const Life *lives, bool fixed)
{
    for (int i = 0; i < maker->function->register_count; i++)
        if (maker->function->registers[i].type == TYPE_PRED && lives[i].is_fixed == fixed)
            maker->slot[i] = maker->code->predicates++;
}

typedef enum Kind { KIND_FIXED, KIND_SPECIAL, KIND_TEMPORARY, KIND_SET, KIND_OTHER } Kind;

static Kind kind_of(const Life *life)
{
    if (life->is_fixed)
        return life->special > 0 ? KIND_SPECIAL : KIND_FIXED;
    return life->shares ? KIND_TEMPORARY : life->is_set ? KIND_SET : KIND_OTHER;
}

/* Gives planes of their own to registers of this kind. */
static bool place_kept(CodeMaker *maker, const Life *lives, Kind kind)
{
    Code *code = maker->code;

    for (int i = 0; i < maker->function->register_count; i++) {
        PtxType type = maker->function->registers[i].type;
        int planes = (type_size(type) + 3) / 4;
        if (type == TYPE_PRED || kind_of(&lives[i]) != kind)
            continue;
        maker->slot[i] = code->planes;
        code->planes += planes > 0 ? planes : 1;
        if (code->planes > MOST_PLANES)
            return refuse(maker, "%.*s has too many registers", maker->function->name.length,
                          maker->function->name.at);
    }
    return true;
}

/* The values of moved registers in block 0. */
static void place_bases(CodeMaker *maker, Life *lives)
{
    for (int i = 0; i < maker->function->register_count; i++)
        if (lives[i].moved) {
            lives[i].base = maker->code->planes;
            maker->code->planes += type_size(maker->function->registers[i].type) / 4;
        }
}

static void place_all_predicates(CodeMaker *maker, const Life *lives)
{
    maker->code->predicates = FIRST_PREDICATE;
    place_predicates(maker, lives, true);
    maker->code->lasting_predicates = maker->code->predicates;
    place_predicates(maker, lives, false);
}

/* Copies of special registers. */
static void place_copies(CodeMaker *maker, const Life *lives)
{
    for (int i = 0; i < maker->function->register_count; i++)
        if (maker->function->registers[i].type != TYPE_PRED && kind_of(&lives[i]) == KIND_SPECIAL)
            maker->slot[i] = lives[i].special - 1;
}

static bool place_all(CodeMaker *maker, Life *lives)
{
    if (!lives || !maker->slot)
        return refuse(maker, "out of memory");
    if (!find_fixed(maker, lives))
        return false;
    place_all_predicates(maker, lives);
    place_copies(maker, lives);
    if (!place_kept(maker, lives, KIND_FIXED))
        return false;
    place_bases(maker, lives);
    maker->code->lasting = maker->code->planes;
    if (!place_kept(maker, lives, KIND_OTHER))
        return false;
    maker->code->temporaries = maker->code->planes;
    return place_kept(maker, lives, KIND_SET) && place_temporaries(maker, lives);
}

static bool place_registers(CodeMaker *maker)
{
    Life *lives = maker->lives = find_lives(maker->function);

    maker->slot = calloc((size_t) maker->function->register_count + 1, sizeof *maker->slot);
    const bool well = place_all(maker, lives);
    maker->unwanted = maker->code->planes;
    maker->code->planes += SPARE_PLANES;
    return well;
}

/* ---- The whole layout ---- */

static bool make_tables(CodeMaker *maker)
{
    Code *code = maker->code;
    size_t variables = (size_t) maker->module->variable_count + 1;

    code->variable_offset = calloc(variables, sizeof *code->variable_offset);
    code->local_plane = malloc(variables * sizeof *code->local_plane);
    code->special_plane = malloc(SPECIAL_UNKNOWN * 3 * sizeof *code->special_plane);
    if (!code->variable_offset || !code->local_plane || !code->special_plane)
        return refuse(maker, "out of memory");
    memset(code->local_plane, -1, variables * sizeof *code->local_plane);
    memset(code->special_plane, -1, SPECIAL_UNKNOWN * 3 * sizeof *code->special_plane);
    return true;
}

bool lay_out(CodeMaker *maker, const Code *kernel)
{
    int function = (int) (maker->function - maker->module->functions);

    if (!make_tables(maker) || !place_params(maker, function))
        return false;
    if (kernel)
        copy_shared(maker, kernel);
    else if (!place_shared(maker, function))
        return false;
    place_specials(maker);
    special_list(maker->code);
    if (!place_local(maker, function))
        return false;
    return place_registers(maker);
}
