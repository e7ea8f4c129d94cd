/* module.c - types, mods and instructions of a PTX module. */
#include "sim/ptx/module.h"

#include <stdlib.h>
#include <string.h>

bool name_is(Name name, const char *text)
{
    size_t length = (size_t) name.length;

    return strlen(text) == length && !memcmp(name.at, text, length);
}

static bool is_digit(Name name, int at)
{
    return name.at[at] >= '0' && name.at[at] <= '9';
}

/* The part after the number that begins at `at`, if it is as long as that says and the last one. */
static Name part_after(Name name, int at)
{
    int length = 0;

    for (; at < name.length && is_digit(name, at) && length < name.length; at++)
        length = 10 * length + name.at[at] - '0';
    return (Name){ name.at + at, length == name.length - at ? length : 0 };
}

/* nvcc splits small arrays that are only used by constant indices: a_$_0, a_$_1, ... */
static Name without_part(Name name)
{
    int at = name.length;

    while (at > 0 && is_digit(name, at - 1))
        at--;
    if (at < name.length && at > 3 && !memcmp(name.at + at - 3, "_$_", 3))
        name.length = at - 3;
    return name;
}

Name name_in_source(Name name)
{
    name = without_part(name);
    if (name.length < 2 || memcmp(name.at, "_Z", 2))
        return name;
    for (int at = name.length - 1; at > 1; at--)
        if (is_digit(name, at) && !is_digit(name, at - 1)) {
            const Name part = part_after(name, at);
            if (part.length > 0)
                return part;
        }
    return name;
}

/* ---- Types ---- */

static const struct {
    int size;
    bool is_signed, is_float, is_half;
} types[TYPES] = {
    [TYPE_B8] = { 1 },
    [TYPE_B16] = { 2 },
    [TYPE_B32] = { 4 },
    [TYPE_B64] = { 8 },
    [TYPE_B128] = { 16 },
    [TYPE_U8] = { 1 },
    [TYPE_U16] = { 2 },
    [TYPE_U32] = { 4 },
    [TYPE_U64] = { 8 },
    [TYPE_S8] = { 1, .is_signed = true },
    [TYPE_S16] = { 2, .is_signed = true },
    [TYPE_S32] = { 4, .is_signed = true },
    [TYPE_S64] = { 8, .is_signed = true },
    [TYPE_F16] = { 2, .is_float = true, .is_half = true },
    [TYPE_F16X2] = { 4, .is_float = true, .is_half = true },
    [TYPE_BF16] = { 2, .is_float = true, .is_half = true },
    [TYPE_BF16X2] = { 4, .is_float = true, .is_half = true },
    [TYPE_F32] = { 4, .is_float = true },
    [TYPE_F64] = { 8, .is_float = true },
    [TYPE_TF32] = { 4, .is_float = true },
    [TYPE_F32X2] = { 8, .is_float = true },
    [TYPE_E4M3] = { 1, .is_float = true },
    [TYPE_E5M2] = { 1, .is_float = true },
    [TYPE_E4M3X2] = { 2, .is_float = true },
    [TYPE_E5M2X2] = { 2, .is_float = true },
    [TYPE_U16X2] = { 4 },
    [TYPE_S16X2] = { 4 },
};

int type_size(PtxType type)
{
    return types[type].size;
}

bool type_is_signed(PtxType type)
{
    return types[type].is_signed;
}

bool type_is_float(PtxType type)
{
    return types[type].is_float;
}

bool type_is_half(PtxType type)
{
    return types[type].is_half;
}

bool type_is_whole(PtxType type)
{
    return !type_is_float(type) && type != TYPE_PRED;
}

/* ---- Mods ---- */

ModGroup mod_group(Mod mod)
{
    static const uint8_t groups[MODS] = {
    /* clang-format off */
#define MOD(name) [MOD_##name] = GROUP_ROUNDING,
        PTX_ROUNDINGS(MOD)
#undef MOD
#define MOD(name) [MOD_##name] = GROUP_COMPARISON,
        PTX_COMPARISONS(MOD)
#undef MOD
#define MOD(name) [MOD_##name] = GROUP_REDUCTION,
        PTX_REDUCTIONS(MOD)
#undef MOD
#define MOD(name) [MOD_##name] = GROUP_SHUFFLE,
        PTX_SHUFFLES(MOD)
#undef MOD
#define MOD(name) [MOD_##name] = GROUP_VOTE,
        PTX_VOTES(MOD)
#undef MOD
#define MOD(name) [MOD_##name] = GROUP_PERMUTE,
        PTX_PERMUTES(MOD)
#undef MOD
        /* clang-format on */
    };

    return (ModGroup) groups[mod];
}

/* ---- Instructions ---- */

static const struct {
    uint8_t class_, facts;
} ops[OPS] = {
#define OP(name, class, facts, ...)              [OP_##name] = { CLASS_##class, facts },
#define OP2(enumerator, name, class, facts, ...) [OP_##enumerator] = { CLASS_##class, facts },
#include "sim/ptx/ops.def"
#undef OP
#undef OP2
};

bool op_is(Op op, OpFact fact)
{
    return ops[op].facts & fact;
}

bool has_mod(const Instruction *in, Mod mod)
{
    for (int i = 0; i < in->mod_count; i++)
        if (in->mods[i] == mod)
            return true;
    return false;
}

/* Conversions between integers are moves: registers hold at least 32 bits, and ptxas folds most of
 * them. */
static OpClass class_of_cvt(const Instruction *in)
{
    bool moves = !type_is_float(in->types[0]) && !type_is_float(in->types[1]);

    return moves && !has_mod(in, MOD_sat) ? CLASS_MOVE : CLASS_CONVERT;
}

static OpClass class_of_float(const Instruction *in, OpClass class_)
{
    PtxType type = in->types[0];

    if (in->op == OP_setp || in->op == OP_set)
        type = in->types[in->op == OP_set && in->type_count > 1];
    if (type == TYPE_F64)
        return in->op == OP_selp || in->op == OP_copysign ? CLASS_INT : CLASS_FP64;
    if (class_ == CLASS_SFU || (in->op == OP_div && type == TYPE_F32))
        return CLASS_SFU;
    if (op_is(in->op, FLOAT_ON_INT_PIPE))
        return CLASS_INT;
    if (type_is_half(type))
        return CLASS_FP16;
    return type == TYPE_F32 || type == TYPE_F32X2 ? CLASS_FP32 : class_;
}

OpClass class_of(const Instruction *in)
{
    OpClass class_ = (OpClass) ops[in->op].class_;

    switch (class_) {
    case CLASS_CONVERT:
        return class_of_cvt(in);
    case CLASS_INT:
    case CLASS_FP32:
    case CLASS_SFU:
        return class_of_float(in, class_);
    case CLASS_LOAD:
        if (in->op == OP_cp_async && !in->count)
            return CLASS_FENCE; /* commit_group, wait_all */
        if (in->op == OP_cp_async && has_mod(in, MOD_wait_group))
            return CLASS_FENCE;
        if (in->op == OP_cp_async && has_mod(in, MOD_mbarrier))
            return CLASS_BARRIER;
        return in->space == SPACE_PARAM ? CLASS_MOVE : class_;
    case CLASS_TENSOR:
        return has_mod(in, MOD_load) ? CLASS_LOAD : has_mod(in, MOD_store) ? CLASS_STORE : class_;
    case CLASS_STORE:
        return in->space == SPACE_PARAM ? CLASS_MOVE : class_;
    default:
        return class_;
    }
}

/* ---- Modules ---- */

int module_find(const Module *module, const char *function_name)
{
    for (int i = 0; i < module->function_count; i++)
        if (name_is(module->functions[i].name, function_name))
            return i;
    return -1;
}

static void free_function(Function *f)
{
    for (int i = 0; i < f->table_count; i++) {
        Table *table = &f->tables[i];
        free(table->entries);
        free(table->param_names);
        free(table->param_sizes);
        free(table->param_aligns);
        free(table->return_sizes);
        free(table->return_aligns);
    }
    free(f->tables);
    free(f->params);
    free(f->returns);
    free(f->registers);
    free(f->instructions);
    free(f->operands);
}

static void free_texts(char **texts, int count)
{
    for (int i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void module_free(Module *module)
{
    if (!module)
        return;
    for (int i = 0; i < module->variable_count; i++) {
        free(module->variables[i].initial);
        free(module->variables[i].relocations);
    }
    for (int i = 0; i < module->function_count; i++)
        free_function(&module->functions[i]);
    free(module->variables);
    free(module->functions);
    free_texts(module->files, module->file_count);
    free_texts(module->warnings, module->warning_count);
    free(module->text);
    free(module);
}
