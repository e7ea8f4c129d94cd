/* parse_function.c - headers of functions: results, name, parameters, launch bounds.
 *
 * A prototype and its definition are one Function with one set of parameter Variables. Parameters
 * in registers (.reg, the form without an ABI) become parameters in memory: instructions at the
 * function's start load them, and stores before each ret write the results. A call's registers and
 * constants become variables of the caller: stores before the call, and loads after it.
 */
#include "sim/ptx/parse.h"
#include "sim/ptx/roles.h"

#include <stdlib.h>
#include <string.h>

/* ---- The function and its parameters ---- */

static int function_add(Parser *p, Name name, bool is_entry)
{
    Module *module = p->module;

    if (!parse_room(p, &module->functions, module->function_count, &p->function_room,
                    sizeof *module->functions, MOST_FUNCTIONS, "functions") ||
        !symbol_add(p, name, SYMBOL_FUNCTION, module->function_count))
        return -1;
    module->functions[module->function_count] =
        (Function){ .name = name, .is_entry = is_entry, .is_extern = true };
    return module->function_count++;
}

static int find_or_add(Parser *p, Name name, bool is_entry, int line)
{
    const Symbol *symbol = symbol_in_scope(p, name);

    if (!symbol)
        return function_add(p, name, is_entry);
    if (symbol->kind == SYMBOL_FUNCTION && p->module->functions[symbol->index].is_entry == is_entry)
        return symbol->index;
    parse_fail_name(p, line, name, "is declared twice");
    return -1;
}

/* Adds the declarations from `first` on. */
static bool add_parameters(Parser *p, int **variables, int *count, int first, int wanted)
{
    Module *module = p->module;

    *variables = malloc(((size_t) wanted + 1) * sizeof **variables);
    if (!*variables)
        return parse_fail(p, p->token.line, "not enough memory");
    for (*count = 0; *count < wanted; ++*count) {
        if (!parse_room(p, &module->variables, module->variable_count, &p->variable_room,
                        sizeof *module->variables, MOST_VARIABLES, "variables"))
            return false;
        (*variables)[*count] = module->variable_count;
        module->variables[module->variable_count++] =
            (Variable){ .name = p->declarations[first + *count].name };
    }
    return true;
}

/* A later declaration replaces the parameters of an earlier one. */
static void set_parameters(Parser *p, const int *variables, int first, int count)
{
    for (int i = 0; i < count; i++) {
        const Declaration *declaration = &p->declarations[first + i];
        p->module->variables[variables[i]] = (Variable){ .name = declaration->name,
                                                         .space = SPACE_PARAM,
                                                         .type = declaration->type,
                                                         .size = declaration->size,
                                                         .align = declaration->align,
                                                         .function = p->function };
    }
}

/* p->declarations holds the results, then the parameters. */
static bool keep_parameters(Parser *p, bool is_new, int returns, int params, int line)
{
    Function *f = &p->module->functions[p->function];

    if (is_new && (!add_parameters(p, &f->returns, &f->return_count, 0, returns) ||
                   !add_parameters(p, &f->params, &f->param_count, returns, params)))
        return false;
    if (f->return_count != returns || f->param_count != params)
        return parse_fail_name(p, line, f->name, "is declared twice, with different parameters");
    set_parameters(p, f->returns, 0, returns);
    set_parameters(p, f->params, returns, params);
    return true;
}

/* ---- After the parameters ---- */

static void read_numbers(Parser *p, int numbers[3])
{
    uint64_t value;

    numbers[0] = numbers[1] = numbers[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!read_count(p, 1 << 30, "a number of threads", &value))
            return;
        numbers[i] = (int) value;
        if (!take_punct(p, ','))
            return;
    }
    parse_expected(p, "at most three numbers");
}

static bool is_without_effect(const Parser *p)
{
    static const char *const words[] = {
        ".minnctapersm",   ".maxnctapersm", ".maxnreg",
        ".noreturn",       ".unique",       ".explicitcluster",
        ".maxclusterrank", ".abi_preserve", ".abi_preserve_control",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_dot(p, words[i]))
            return true;
    return false;
}

static void read_attributes(Parser *p)
{
    Function *f = &p->module->functions[p->function];

    while (p->token.kind == TOKEN_DOT) {
        if (take_dot(p, ".reqntid")) {
            read_numbers(p, f->required_threads);
        } else if (take_dot(p, ".maxntid")) {
            read_numbers(p, f->most_threads);
        } else if (take_dot(p, ".reqnctapercluster")) {
            read_numbers(p, f->required_cluster);
        } else if (take_dot(p, ".pragma")) {
            skip_statement(p);
        } else {
            if (!is_without_effect(p))
                parse_warn(p, p->token.line, p->token.text);
            advance(p);
            while (p->token.kind == TOKEN_INTEGER || at_punct(p, ','))
                advance(p);
        }
    }
}

/* ---- Parameters in registers ---- */

/* Adds a load of a register from a variable, or a store of a value into it. `owner`: the
 * instruction of the text that needs it, or NULL. */
static void add_param_access(Parser *p, Op op, PtxType type, Operand value, int variable,
                             const Instruction *owner)
{
    static const char load[] = "ld.param", store[] = "st.param";
    Function *f = &p->module->functions[p->function];
    Operand address = { .kind = OPERAND_ADDRESS, .index = variable, .name = value.name };
    int first = f->operand_count;

    if (!operand_add(p, op == OP_ld ? value : address) ||
        !operand_add(p, op == OP_ld ? address : value))
        return;
    Instruction *in = instruction_add(p);
    if (!in)
        return;
    in->op = op;
    in->space = SPACE_PARAM;
    in->types[in->type_count++] = type;
    in->first = first;
    in->count = 2;
    in->guard = owner ? owner->guard : -1;
    in->guard_negated = owner && owner->guard_negated;
    in->line = owner ? owner->line : 0;
    in->ptx_line = owner ? owner->ptx_line : f->ptx_line;
    in->text = (Name){ op == OP_ld ? load : store, sizeof load - 1 };
    in->roles = roles_of(in);
}

static Operand register_of(const Declaration *declaration)
{
    return (Operand){ .kind = OPERAND_REGISTER,
                      .index = declaration->index,
                      .name = declaration->name };
}

void store_results(Parser *p, const Instruction *ret)
{
    for (int i = 0; i < p->module->functions[p->function].return_count; i++) {
        const Declaration *result = &p->declarations[i];
        if (result->is_register)
            add_param_access(p, OP_st, result->type, register_of(result),
                             p->module->functions[p->function].returns[i], ret);
    }
}

/* Declares a parameter's name in the function's scope. */
static void declare_parameter(Parser *p, Declaration *declaration, int variable)
{
    if (name_is(declaration->name, "_"))
        return;
    if (symbol_in_scope(p, declaration->name)) {
        parse_fail(p, p->token.line, "a function with two parameters of the same name");
        return;
    }
    declaration->index =
        declaration->is_register ? register_add(p, declaration->name, declaration->type) : variable;
    if (!p->failed)
        symbol_add(p, declaration->name,
                   declaration->is_register ? SYMBOL_REGISTER : SYMBOL_VARIABLE,
                   declaration->index);
}

static void declare_parameters(Parser *p)
{
    const Function *f = &p->module->functions[p->function];

    for (int i = 0; i < f->return_count; i++)
        declare_parameter(p, &p->declarations[i], f->returns[i]);
    for (int i = 0; i < f->param_count && !p->failed; i++) {
        Declaration *declaration = &p->declarations[f->return_count + i];
        declare_parameter(p, declaration, f->params[i]);
        if (declaration->is_register && !p->failed)
            add_param_access(p, OP_ld, declaration->type, register_of(declaration), f->params[i],
                             NULL);
    }
}

/* ---- Registers and constants in calls ---- */

/* The callee's parameter or result for an operand; NULL: unknown. */
static const Variable *formal_of(const Parser *p, const Instruction *call, int operand)
{
    const Operand *target = &p->operands[call->call_returns];
    const int argument = operand - call->call_returns - 1;

    if (target->kind != OPERAND_FUNCTION || target->index < 0)
        return NULL;
    const Function *f = &p->module->functions[target->index];
    if (argument < 0)
        return operand < f->return_count ? &p->module->variables[f->returns[operand]] : NULL;
    return argument < f->param_count ? &p->module->variables[f->params[argument]] : NULL;
}

/* The type of an operand that needs a variable; NONE: it is one already, or cannot be passed. */
static PtxType passed_type(const Parser *p, const Instruction *call, int operand)
{
    const OperandKind kind = p->operands[operand].kind;
    const Variable *formal = formal_of(p, call, operand);
    PtxType type = TYPE_NONE;

    if (kind == OPERAND_REGISTER)
        type = p->module->functions[p->function].registers[p->operands[operand].index].type;
    else if (formal && (kind == OPERAND_INTEGER || kind == OPERAND_FLOAT ||
                        (kind == OPERAND_DISCARD && operand < call->call_returns)))
        type = formal->type;
    return operand != call->call_returns && type_size(type) ? type : TYPE_NONE;
}

/* A variable of the caller; -1: none, and the parser has failed. */
static int add_local(Parser *p, Name name, PtxType type)
{
    Module *module = p->module;

    if (!parse_room(p, &module->variables, module->variable_count, &p->variable_room,
                    sizeof *module->variables, MOST_VARIABLES, "variables"))
        return -1;
    module->variables[module->variable_count] = (Variable){ .name = name,
                                                            .space = SPACE_PARAM,
                                                            .type = type,
                                                            .size = (size_t) type_size(type),
                                                            .align = type_size(type),
                                                            .function = p->function };
    return module->variable_count++;
}

void store_arguments(Parser *p, const Instruction *call)
{
    for (int i = 0; i < p->operand_count && !p->failed; i++) {
        const Operand value = p->operands[i];
        const PtxType type = passed_type(p, call, i);
        const int local = type == TYPE_NONE ? -1 : add_local(p, value.name, type);
        if (local < 0)
            continue;
        p->module->functions[p->function].operands[call->first + i] =
            (Operand){ .kind = OPERAND_VARIABLE, .index = local, .name = value.name };
        if (i > call->call_returns)
            add_param_access(p, OP_st, type, value, local, call);
    }
}

void load_results(Parser *p, const Instruction *call)
{
    for (int i = 0; i < call->call_returns && !p->failed; i++) {
        const Operand *local = &p->module->functions[p->function].operands[call->first + i];
        const PtxType type = passed_type(p, call, i);
        if (p->operands[i].kind == OPERAND_REGISTER && type != TYPE_NONE)
            add_param_access(p, OP_ld, type, p->operands[i], local->index, call);
    }
}

/* ---- Definitions ---- */

/* Frees the unused part of an array that grew by doubling. */
static void shrink(void *array, int count, size_t size)
{
    void *old, *less;

    memcpy(&old, array, sizeof old);
    less = realloc(old, (size_t) (count + !count) * size); /* never of 0 bytes */
    if (less)
        memcpy(array, &less, sizeof less);
}

static void define(Parser *p, int line)
{
    Function *f = &p->module->functions[p->function];

    if (!f->is_extern) {
        parse_fail_name(p, line, f->name, "is defined twice");
        return;
    }
    f->is_extern = false;
    f->ptx_line = line;
    p->instruction_room = p->operand_room = p->register_room = p->table_room = 0;
    p->pending_count = 0;
    p->lines.current = -1;
    scope_open(p);
    declare_parameters(p);
    read_body(p);
    shrink(&f->registers, f->register_count, sizeof *f->registers);
    shrink(&f->instructions, f->instruction_count, sizeof *f->instructions);
    shrink(&f->operands, f->operand_count, sizeof *f->operands);
}

void read_function(Parser *p, Linkage linkage)
{
    bool is_entry = at_dot(p, ".entry");
    int line = p->token.line, returns = 0, params = 0, known = p->module->function_count;
    Name name;

    p->declaration_count = 0;
    advance(p);
    if (at_punct(p, '('))
        returns = read_parameters(p);
    if (!expect_name(p, &name))
        return;
    if (at_punct(p, '('))
        params = read_parameters(p);
    p->function = find_or_add(p, name, is_entry, line);
    if (p->function >= 0)
        p->module->functions[p->function].is_visible |=
            is_entry || linkage.is_visible || linkage.is_weak || linkage.is_extern;
    if (p->function >= 0 &&
        keep_parameters(p, p->module->function_count > known, returns, params, line)) {
        read_attributes(p);
        if (at_punct(p, '{') && linkage.is_weak && !p->module->functions[p->function].is_extern)
            skip_braces(p); /* another text has defined the same function */
        else if (at_punct(p, '{') && !linkage.is_extern)
            define(p, line);
        else
            expect_punct(p, ';');
    }
    p->function = -1;
}
