/* code.c - code_make(): turns a function of a module into steps that can be run.
 *
 * First variables and registers are placed (layout.c); then each instruction becomes a step: its
 * operands are resolved (operands.c), and one of the families of handlers binds it. A step that no
 * family binds, or whose operands do not fit, is reported only when it is executed, since a program
 * may never reach it.
 */
#include "sim/ptx/cfg.h"
#include "sim/exec/code.h"
#include "sim/exec/uses.h"
#include "sim/exec/loops.h"
#include "sim/exec/uses.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool refuse(CodeMaker *maker, const char *format, ...)
{
    va_list arguments;

    if (maker->why_size && !maker->refused) {
        va_start(arguments, format);
        vsnprintf(maker->why, maker->why_size, format, arguments);
        va_end(arguments);
    }
    maker->refused = true;
    return false;
}

/* ---- Steps ---- */

static void run_unknown(Warp *warp, const Step *step, uint32_t mask)
{
    fail(warp, step, __builtin_ctz(mask), FINDING_UNKNOWN_INSTRUCTION,
         "the simulated GPU does not support this instruction%s",
         step->in->op == OP_unknown ? "" : " with these operands");
}

/* True for groups whose mods determine what an instruction does. */
static bool is_main(ModGroup group)
{
    return group == GROUP_COMPARISON || group == GROUP_REDUCTION || group == GROUP_SHUFFLE ||
           group == GROUP_VOTE;
}

static void fill_mods(Step *step, const Instruction *in)
{
    for (int i = 0; i < in->mod_count; i++) {
        const ModGroup group = mod_group((Mod) in->mods[i]);
        if (!step->mod && is_main(group))
            step->mod = in->mods[i];
        if (!step->rounding && group == GROUP_ROUNDING)
            step->rounding = in->mods[i];
    }
    step->ftz = has_mod(in, MOD_ftz);
    step->sat = has_mod(in, MOD_sat);
    step->approx = has_mod(in, MOD_approx);
    step->wide = has_mod(in, MOD_wide);
    step->hi = has_mod(in, MOD_hi);
    step->cc = has_mod(in, MOD_cc);
}

static void begin_step(Step *step, const Instruction *in)
{
    static uint32_t numbers; /* caches use it as their key, since addresses are reused */

    *step = (Step){ .next = step + 1,
                    .number = ++numbers,
                    .in = in,
                    .d = -1,
                    .d2 = -1,
                    .a = -1,
                    .b = -1,
                    .c = -1,
                    .e = -1,
                    .guard = -1 };
    step->guard_negated = in->guard_negated;
    step->size = (uint8_t) type_size(in->types[0]);
    step->vector = (uint8_t) (in->vector > 0 ? in->vector : 1);
    step->space = (uint8_t) in->space;
    step->type = (uint8_t) in->types[0];
    step->type2 = (uint8_t) in->types[1];
    step->class_ = (uint8_t) class_of(in);
    step->rpc = -1;
    if (step->class_ == CLASS_CONTROL)
        step->jump.target = -1;
    fill_mods(step, in);
}

static bool bind(Step *step, const Instruction *in)
{
    static bool (*const binders[])(Step * step, const Instruction *in) = {
        bind_control, bind_memory,  bind_tensor,  bind_mbarrier, bind_texture,
        bind_warp,    bind_compare, bind_convert, bind_float,    bind_integer
    };

    for (size_t i = 0; i < sizeof binders / sizeof *binders; i++)
        if (binders[i](step, in))
            return true;
    return false;
}

static bool make_step(CodeMaker *maker, Step *step, const Instruction *in)
{
    begin_step(step, in);
    if (in->guard >= 0) {
        if (maker->function->registers[in->guard].type != TYPE_PRED)
            return refuse(maker, "line %d of the PTX: the guard is not a predicate", in->ptx_line);
        step->guard = maker->slot[in->guard];
    }
    if (!fill_operands(maker, step) || !bind(step, in)) {
        step->run = run_unknown;
        return !maker->refused;
    }
    if (step->inner) {
        step->inner = step->run;
        step->run = run_clock;
    }
    return true;
}

/* Whether the step only computes or moves data. */
static bool is_plain(const Step *step)
{
    const Op op = (Op) step->in->op;

    switch (step->class_) {
    case CLASS_MOVE:
    case CLASS_INT:
    case CLASS_FP32:
    case CLASS_FP64:
    case CLASS_FP16:
    case CLASS_SFU:
    case CLASS_CONVERT:
        return !step->inner && op != OP_elect && op != OP_activemask;
    case CLASS_LOAD:
        return op == OP_ld;
    case CLASS_STORE:
        return op == OP_st && !has_mod(step->in, MOD_async);
    default:
        return false;
    }
}

static void mark_target(const Code *code, bool *is_target, int at)
{
    if (at >= 0 && at <= code->step_count)
        is_target[at] = true;
}

/* Marks the steps to which a jump leads. */
static void mark_targets(const Code *code, const Function *function, bool *is_target)
{
    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in->op == OP_bra)
            mark_target(code, is_target, code->steps[i].jump.target);
    for (int i = 0; i < function->table_count; i++)
        for (int k = 0; k < function->tables[i].count; k++)
            mark_target(code, is_target, function->tables[i].entries[k]);
}

/* NULL if memory runs out: then there are no sequences or rows. */
static bool *targets_of(const Code *code, const Function *function)
{
    bool *is_target = calloc((size_t) code->step_count + 1, sizeof *is_target);

    if (is_target)
        mark_targets(code, function, is_target);
    return is_target;
}

/* Finds the sequences of plain steps. */
static void find_straights(Code *code, const bool *is_target)
{
    for (int i = code->step_count - 1; i >= 0; i--) {
        Step *step = &code->steps[i];
        const int next = is_target[i + 1] || step[1].is_meeting ? 0 : step[1].straight;
        if (is_plain(step))
            step->straight = (uint16_t) (next < UINT16_MAX ? next + 1 : next);
    }
}

/* Whether the branch is the end of a loop whose other steps are plain and have no guards. */
static bool ends_row(const Code *code, int at)
{
    const int target = code->steps[at].jump.target;

    if (!code->steps[at].loop || code->steps[target].straight != at - target ||
        at - target >= MOST_BARE)
        return false;
    for (int i = target; i < at; i++)
        if (code->steps[i].guard >= 0)
            return false;
    return true;
}

/* Whether the step is the last one of its row. After a branch that no lane takes, a whole warp
 * meets no other lanes. */
static bool is_last_in_row(const Code *code, int at, const bool *is_target)
{
    return is_target[at + 1] || ends_row(code, at) ||
           (code->steps[at + 1].is_meeting && !code->steps[at].can_idle);
}

/* Finds the rows of steps whose handlers call each other. */
static void find_rows(CodeMaker *maker, const bool *is_target)
{
    for (int i = maker->code->step_count - 1; i >= 0; i--) {
        Step *step = &maker->code->steps[i];
        const bool ends = ends_row(maker->code, i);
        const int next = is_last_in_row(maker->code, i, is_target) ? 0 : step[1].bare;
        const bool plain = (step->straight || step->is_alike) && step->guard < 0;
        if (!plain && !(step->can_idle && next) && !ends)
            continue;
        step->bare = (uint16_t) (next && next < MOST_BARE ? next + 1 : 1);
        if (step->bare > 1 &&
            (maker->fixed[i + 1] || (maker->moved[i] && is_skipped(maker, i + 1))))
            step->next = step[1].next;
        if (!step->straight)
            bind_in_row(step);
    }
}

static void find_idle_branches(Code *code)
{
    for (int i = 0; i < code->step_count; i++) {
        Step *step = &code->steps[i];
        step->can_idle =
            step->in->op == OP_bra && step->guard >= 0 && !step->loop && !step->leaves_loop;
    }
}

/* Finds shuffles whose operands are known to be the same for all lanes. */
static void find_alike(CodeMaker *maker)
{
    for (int i = 0; i < maker->code->step_count; i++) {
        Step *step = &maker->code->steps[i];
        const Instruction *in = step->in;
        step->is_alike = in->op == OP_shfl && in->roles.known;
        for (int k = in->roles.destinations + 1; k < in->count && step->is_alike; k++) {
            const Operand *operand = &maker->function->operands[in->first + k];
            step->is_alike =
                operand->kind == OPERAND_INTEGER ||
                (operand->kind == OPERAND_REGISTER && maker->lives[operand->index].is_alike);
        }
    }
}

static void find_sequences(CodeMaker *maker)
{
    Code *code = maker->code;
    bool *is_target = targets_of(code, maker->function);

    find_idle_branches(code);
    find_alike(maker);
    if (!is_target)
        return;
    find_straights(code, is_target);
    find_rows(maker, is_target);
    find_indexed(maker);
    free(is_target);
}

/* The step after the last instruction ends the function. */
static bool make_steps(CodeMaker *maker)
{
    const Function *function = maker->function;
    Code *code = maker->code;
    static const Instruction end = { .op = OP_ret, .guard = -1, .roles = { .known = true } };
    Reconvergence meets;
    const bool known = reconvergence_make(function, &meets);
    uint8_t *treatment = calloc((size_t) function->instruction_count + 1, 1);
    int *product = malloc(((size_t) function->instruction_count + 1) * sizeof *product);

    code->step_count = function->instruction_count;
    code->steps = aligned_alloc(_Alignof(Step), ((size_t) code->step_count + 1) * sizeof(Step));
    if (!code->steps || !known || !treatment) {
        if (known)
            reconvergence_free(&meets);
        free(treatment);
        free(product);
        return refuse(maker, "out of memory");
    }
    find_treatments(function, treatment, product);
    bool well = true;
    for (int i = 0; i < code->step_count && well; i++) {
        well = make_step(maker, &code->steps[i], &function->instructions[i]);
        code->steps[i].rpc = meets.rpc[i];
        code->steps[i].after = meets.after[i];
        code->steps[i].in_loop = meets.inner[i];
        code->steps[i].round = meets.round[i];
        code->steps[i].treatment = treatment[i];
    }
    for (int i = 0; i < code->step_count && well; i++)
        if (meets.rpc[i] >= 0)
            code->steps[meets.rpc[i]].is_meeting = true;
    for (int i = 0; i < code->step_count && well; i++)
        if (product[i] >= 0)
            bind_fused(&code->steps[i], &code->steps[product[i]]);
    reconvergence_free(&meets);
    free(treatment);
    free(product);
    begin_step(&code->steps[code->step_count], &end);
    code->steps[code->step_count].run = run_end;
    return well;
}

/* An atomic whose result nothing reads is no different from red. nvcc leaves that to ptxas. */
static void drop_results(const Code *code)
{
    for (int i = 0; i < code->step_count; i++) {
        Step *step = &code->steps[i];
        const int reg =
            step->in->op == OP_atom ? uses_register(code->function, step->in, 0, 0) : -1;
        if (reg >= 0 && !uses_later(code, reg, i + 1))
            step->d = -1;
    }
}

/* ---- Codes ---- */

static bool is_runnable(CodeMaker *maker, const Module *module, int function)
{
    const Function *f =
        function >= 0 && function < module->function_count ? &module->functions[function] : NULL;

    if (!f)
        return refuse(maker, "there is no such function");
    if (f->is_extern || !f->instruction_count)
        return refuse(maker, "function %.*s has no body", f->name.length, f->name.at);
    maker->function = f;
    return true;
}

static bool make(CodeMaker *maker, const Code *kernel, int function)
{
    return is_runnable(maker, maker->module, function) && lay_out(maker, kernel) &&
           make_steps(maker) && fill_constants(maker) && set_fixed(maker);
}

Code *code_make_for(const Code *kernel, const Module *module, int function,
                    const uint64_t *variable_address, char *why, size_t size)
{
    CodeMaker maker = { .module = module, .why = why, .why_size = size };
    Code *code = maker.code = calloc(1, sizeof *code);

    if (size)
        why[0] = 0;
    bool well = code || refuse(&maker, "out of memory");
    if (well) {
        code->module = module;
        code->variable_address = variable_address;
        well = make(&maker, kernel, function);
        if (well)
            loops_find_exits(code);
        if (well && !kernel)
            loops_find(code);
        if (well)
            find_sequences(&maker);
        well = well && set_moved(&maker);
        code->function = maker.function;
        code->uses = well ? uses_make(code->function) : NULL;
        code->last_use = well ? last_uses(code->function, maker.lives) : NULL;
        if (well)
            drop_results(code);
    }
    free(maker.slot);
    free(maker.constants);
    free(maker.fixed);
    free(maker.moved);
    free(maker.lives);
    if (!well) {
        code_free(code);
        return NULL;
    }
    return code;
}

Code *code_make(const Module *module, int function, const uint64_t *variable_address, char *why,
                size_t size)
{
    return code_make_for(NULL, module, function, variable_address, why, size);
}

void code_free(Code *code)
{
    if (!code)
        return;
    free(code->steps);
    free(code->constants);
    free(code->variable_offset);
    free(code->special_plane);
    free(code->local_plane);
    free(code->fragments);
    free(code->fixed);
    free(code->moved);
    free(code->uses);
    free(code->last_use);
    free(code);
}
