/* fuzz_launch.c - reads arbitrary bytes as a PTX text and runs its kernels: two blocks of 48
 * threads, with all checks, a small array for each 8 bytes of parameters, and a budget of a few
 * thousand warp instructions. `make fuzz` builds and runs it.
 */
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "fuzz.h"
#include "sim/machine/issue.h"
#include "sim/ptx/module.h"

#include <string.h>

enum {
    MEMORY_BYTES = 4 << 20,
    ARRAY_BYTES = 4096,
    PARAM_BYTES = 512,
    BUDGET = 3000,
    MOST_KERNELS = 3
};

static void say_nothing(void *self, const char *text, size_t length)
{
    volatile char last = 0;

    (void) self;
    if (length)
        last = text[length - 1];
    (void) last;
}

/* Returns false if out of memory. */
static bool place_variables(const Module *module, uint64_t *addresses)
{
    for (int i = 0; i < module->variable_count; i++) {
        const Variable *v = &module->variables[i];
        Allocation *a;
        if ((v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || v->function >= 0 ||
            v->is_extern)
            continue;
        a = memory_allocate(v->size, v->space == SPACE_CONST ? VARIABLE_CONST : VARIABLE_GLOBAL,
                            "variable");
        if (!a)
            return false;
        if (v->initial)
            memcpy(a->host, v->initial, v->size);
        addresses[i] = a->base;
    }
    return true;
}

/* Estimates instructions, as the report does for each launch. */
static void estimate(const Code *code, const Count *counts)
{
    Issue *issues = calloc((size_t) code->step_count + 1, sizeof *issues);

    MUST(issues);
    estimate_issues(code, counts, issues);
    free(issues);
}

static void launch(const Module *module, int index, const uint64_t *addresses)
{
    char why[300] = "";
    Allocation *array = memory_allocate(ARRAY_BYTES, ALLOCATED, NULL);
    uint8_t *params = calloc(1, PARAM_BYTES + 16);
    Code *code = code_make(module, index, addresses, why, sizeof why);
    Launch launch = { .module = module,
                      .kernel = code,
                      .name = "k",
                      .grid = { 2, 1, 1 },
                      .block = { 48, 1, 1 },
                      .dynamic_shared_bytes = 256,
                      .params = params,
                      .param_bytes = PARAM_BYTES,
                      .cooperative = index % 2,
                      .check_races = true,
                      .check_uninitialised = true,
                      .budget = BUDGET,
                      .sms = 2,
                      .observers = { &check_observer },
                      .print = say_nothing };

    MUST(array && params);
    for (int i = 0; i < PARAM_BYTES; i += 8)
        memcpy(params + i, i % 24 ? (const void *) &(uint64_t){ 40 } : &array->base, 8);
    if (!code)
        MUST(*why);
    else
        MUST(launch_run(&launch) == !launch.failed);
    if (launch.counts)
        estimate(code, launch.counts);
    launch_free(&launch);
    code_free(code);
    free(params);
}

static void run_module(const Module *module)
{
    uint64_t *addresses = calloc((size_t) module->variable_count + 1, sizeof *addresses);
    int left = MOST_KERNELS;

    MUST(addresses);
    if (place_variables(module, addresses))
        for (int i = 0; i < module->function_count && left; i++)
            if (module->functions[i].is_entry && module->functions[i].instruction_count) {
                launch(module, i, addresses);
                left--;
            }
    free(addresses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[300];
    Module *module = module_parse((const char *) data, size, why, sizeof why);

    if (!module)
        return 0;
    finding_quiet(true);
    finding_reset();
    MUST(memory_open(MEMORY_BYTES, true, why, sizeof why));
    run_module(module);
    memory_close();
    module_free(module);
    return 0;
}
