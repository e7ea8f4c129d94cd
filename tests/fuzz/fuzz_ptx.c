/* fuzz_ptx.c - reads arbitrary bytes as a PTX text: it is refused with a message, or the parsed
 * module is valid. `make fuzz` builds and runs it.
 */
#include "sim/exec/exec.h"
#include "sim/ptx/module.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reads the whole result, so that sanitizers detect invalid parts ---- */

static void check_name(const Module *module, Name name, bool may_be_ours)
{
    bool inside =
        name.at >= module->text && name.at + name.length <= module->text + module->text_bytes;

    MUST(name.length >= 0 && (inside || may_be_ours));
}

static void check_operand(const Module *module, const Function *f, const Operand *o, bool element)
{
    check_name(module, o->name, false);
    switch (o->kind) {
    case OPERAND_REGISTER:
        MUST(o->index >= 0 && o->index < f->register_count);
        break;
    case OPERAND_VARIABLE:
        MUST(o->index >= 0 && o->index < module->variable_count);
        break;
    case OPERAND_FUNCTION:
        MUST(o->index >= -1 && o->index < module->function_count);
        break;
    case OPERAND_LABEL:
        MUST(o->index >= 0 && o->index <= f->instruction_count);
        break;
    case OPERAND_TABLE:
        MUST(o->index >= 0 && o->index < f->table_count);
        break;
    case OPERAND_ADDRESS:
        MUST(o->index >= (o->is_register ? 0 : -1));
        MUST(o->index < (o->is_register ? f->register_count : module->variable_count));
        break;
    case OPERAND_VECTOR:
        MUST(!element && o->first >= 0 && o->count > 0 && o->count <= f->operand_count - o->first);
        for (int i = 0; i < o->count; i++)
            check_operand(module, f, &f->operands[o->first + i], true);
        break;
    case OPERAND_SPECIAL:
        MUST(o->special <= SPECIAL_UNKNOWN && o->component >= 0 && o->component < 32);
        break;
    default:
        MUST(o->kind == OPERAND_INTEGER || o->kind == OPERAND_FLOAT || o->kind == OPERAND_DISCARD);
    }
}

static void check_instruction(const Module *module, const Function *f, const Instruction *in)
{
    MUST(in->op < OPS && class_of(in) < CLASSES);
    MUST(in->guard >= -1 && in->guard < f->register_count);
    MUST(in->guard < 0 || f->registers[in->guard].type == TYPE_PRED);
    MUST(in->first >= 0 && in->count >= 0 && in->count <= f->operand_count - in->first);
    MUST(in->call_returns >= 0 && in->call_returns <= in->count);
    MUST(in->type_count <= INSTRUCTION_TYPES && in->mod_count <= INSTRUCTION_MODS);
    MUST(in->vector == 1 || in->vector == 2 || in->vector == 4 || in->vector == 8);
    MUST(in->file >= 0 && (!in->file || module->files[in->file]));
    check_name(module, in->text, true);
    for (int i = 0; i < in->count; i++)
        check_operand(module, f, &f->operands[in->first + i], false);
}

static void check_tables(const Module *module, const Function *f)
{
    for (int i = 0; i < f->table_count; i++)
        for (int e = 0; e < f->tables[i].count; e++)
            MUST(f->tables[i].entries[e] >= -1 &&
                 (f->tables[i].entries[e] <= f->instruction_count ||
                  f->tables[i].entries[e] < module->function_count));
}

static void check_graph(const Function *f)
{
    int *rpc = calloc((size_t) f->instruction_count + 1, sizeof *rpc);

    MUST(rpc);
    find_reconvergence(f, rpc);
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        bool splits = in->op == OP_brx || (in->op == OP_bra && in->guard >= 0);
        MUST(splits ? rpc[i] >= 0 && rpc[i] <= f->instruction_count : rpc[i] == -1);
    }
    free(rpc);
}

static void check_function(const Module *module, const Function *f)
{
    check_name(module, f->name, false);
    for (int i = 0; i < f->param_count; i++)
        MUST(f->params[i] >= 0 && f->params[i] < module->variable_count);
    for (int i = 0; i < f->return_count; i++)
        MUST(f->returns[i] >= 0 && f->returns[i] < module->variable_count);
    for (int i = 0; i < f->register_count; i++)
        check_name(module, f->registers[i].name, false);
    for (int i = 0; i < f->instruction_count; i++)
        check_instruction(module, f, &f->instructions[i]);
    check_tables(module, f);
    check_graph(f);
}

static void check_variable(const Module *module, const Variable *variable)
{
    volatile uint8_t last;

    check_name(module, variable->name, false);
    MUST(variable->function >= -1 && variable->function < module->function_count);
    MUST(variable->align > 0 && !(variable->align & (variable->align - 1)));
    MUST(variable->size <= (size_t) 1 << 40);
    if (variable->initial && variable->size)
        last = variable->initial[variable->size - 1];
    (void) last;
    for (int i = 0; i < variable->relocation_count; i++) {
        const Relocation *r = &variable->relocations[i];
        MUST(variable->initial && r->offset + (size_t) r->size <= variable->size);
        MUST((r->variable >= 0) != (r->function >= 0));
        MUST(r->variable < module->variable_count && r->function < module->function_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[200] = "";
    Module *module = module_parse((const char *) data, size, why, sizeof why);

    if (!module) {
        MUST(!strncmp(why, "PTX line ", 9));
        return 0;
    }
    for (int i = 0; i < module->variable_count; i++)
        check_variable(module, &module->variables[i]);
    for (int i = 0; i < module->function_count; i++)
        check_function(module, &module->functions[i]);
    module_free(module);
    return 0;
}
