/* sim_launch.h - for tests: runs a kernel from PTX text, and keeps its output and findings. */
#ifndef SIM_SIM_LAUNCH_H
#define SIM_SIM_LAUNCH_H

#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/base/finding.h"
#include "sim/memory/memory.h"
#include "sim/machine/path.h"
#include "sim/record/record.h"
#include "sim/report/trace.h"
#include "sim/sim_snippets.h"
#include "sim/time/timing.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_WORDS = 1 << 14, PRINTED = 1 << 14 };

/* A kernel `k`: %r1 is the thread's number in its block, %r2 its lane, %rd1 the array, %rd2 the
 * address of the thread's word in it (also counting blocks). It stores %r0 at the end. */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BEGIN                                                                                      \
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                       \
    ".reg .pred %p<20>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<32>;\n"               \
    ".reg .f32 %f<8>;\n.reg .f64 %fd<8>;\n"                                                        \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r3, [n];\nmov.u32 %r1, %tid.x;\n"                    \
    "mov.u32 %r2, %laneid;\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\n"                       \
    "mad.lo.s32 %r6, %r4, %r5, %r1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd2, %rd1, %rd3;\n"      \
    "mov.u32 %r0, 0;\n"
#define END          "st.global.u32 [%rd2], %r0;\nret;\n}\n"
#define KERNEL(body) HEAD BEGIN body END

/* A run: set the fields that differ from the defaults, then call trial_run(). */
typedef struct Trial {
    const char *ptx;
    int threads, blocks; /* 0: 32, 1 */
    int rows;            /* blocks along y; 0: 1 */
    uint32_t n;
    Schedule schedule;
    uint64_t seed, budget, sample;
    uint8_t unwritten;
    bool cooperative, check_races, check_uninitialised;
    int cluster; /* blocks, along x; 0: no clusters */
    long resident;
    size_t shared_bytes;
    Gpu *gpu;         /* models the time; NULL: time is not modelled */
    int blocks_an_sm; /* for the model; 0: 1 */
    uint64_t most_played;
    const struct Lowering *lowering; /* the machine code; NULL: unknown */
    const struct ChildCalls *children;
    const Observer *observer; /* in place of the timing model's; may be NULL */
    /* Results. */
    TimingResult time;
    bool well;
    Launch launch;
    Walk *walk;
    Module *module;
    Code *code;
    uint8_t params[16];
    Allocation *array; /* out, while the memory is open */
    uint32_t *out;     /* contents of the array after the launch */
    char printed[PRINTED];
    size_t printed_length;
} Trial;

static inline void keep_printed(void *self, const char *text, size_t length)
{
    Trial *trial = self;

    if (trial->printed_length + length < sizeof trial->printed) {
        memcpy(trial->printed + trial->printed_length, text, length);
        trial->printed_length += length;
    }
}

static inline uint64_t *make_variables(const Module *module)
{
    uint64_t *at = calloc((size_t) module->variable_count + 1, sizeof *at);

    for (int i = 0; i < module->variable_count; i++) {
        const Variable *v = &module->variables[i];
        if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
            continue;
        Allocation *a = memory_allocate(v->size, VARIABLE_GLOBAL, "variable");
        if (v->initial)
            memcpy(a->host, v->initial, v->size);
        for (int j = 0; j < v->relocation_count; j++) {
            uint64_t f = FUNCTION_WINDOW + 16ull * (uint64_t) v->relocations[j].function;
            memcpy(a->host + v->relocations[j].offset, &f, 8);
        }
        at[i] = a->base;
    }
    return at;
}

static inline void trial_close(Trial *trial)
{
    launch_free(&trial->launch);
    path_free(trial->walk);
    if (trial->code)
        free((void *) trial->code->variable_address);
    code_free(trial->code);
    module_free(trial->module);
    free(trial->out);
    memory_close();
}

/* Parses the kernel. Returns false if the PTX could not be parsed. */
static inline bool trial_open(Trial *trial)
{
    char why[300] = "";

    snippet_keep(trial->ptx);
    finding_quiet(true);
    finding_reset();
    CU_ASSERT_FATAL(memory_open(1 << 24, false, why, sizeof why));
    trial->out = calloc(OUT_WORDS, sizeof *trial->out);
    trial->module = module_parse(trial->ptx, strlen(trial->ptx), why, sizeof why);
    if (trial->module)
        trial->code = code_make(trial->module, module_find(trial->module, "k"),
                                make_variables(trial->module), why, sizeof why);
    CU_ASSERT_PTR_NOT_NULL(trial->code);
    if (!trial->code) {
        printf("\n    %s\n", why);
        return false;
    }
    Allocation *array = trial->array = memory_allocate(OUT_WORDS * 4, ALLOCATED, NULL);
    memset(array->host, 0, OUT_WORDS * 4);
    memcpy(trial->params, &array->base, 8);
    trial->walk = path_make(trial->lowering, trial->code);
    return true;
}

/* Launches it, once or again. */
static inline void trial_launch(Trial *trial)
{
    memcpy(trial->params + 8, &trial->n, 4);
    trial->launch =
        (Launch){ .module = trial->module,
                  .kernel = trial->code,
                  .name = "k",
                  .lowering = trial->lowering,
                  .walk = trial->walk,
                  .children = trial->children,
                  .grid = { trial->blocks ? trial->blocks : 1, trial->rows ? trial->rows : 1, 1 },
                  .block = { trial->threads ? trial->threads : 32, 1, 1 },
                  .cluster = { trial->cluster, trial->cluster > 0, trial->cluster > 0 },
                  .params = trial->params,
                  .param_bytes = 12,
                  .schedule = trial->schedule,
                  .schedule_seed = trial->seed,
                  .cooperative = trial->cooperative,
                  .resident = trial->resident,
                  .check_races = trial->check_races,
                  .check_uninitialised = trial->check_uninitialised,
                  .sample = trial->sample,
                  .unwritten = trial->unwritten,
                  .dynamic_shared_bytes = trial->shared_bytes,
                  .budget = trial->budget ? trial->budget : 100000000,
                  .sms = 4,
                  .observers = { &check_observer,
                                 trial->observer ? trial->observer : &timing_observer },
                  .print = keep_printed,
                  .print_self = trial };
    if (trial->gpu)
        trial->launch.timing =
            timing_begin(trial->gpu, &trial->launch, trial->blocks_an_sm ? trial->blocks_an_sm : 1,
                         trial->most_played);
    record_launch(&trial->launch);
    trace_launch(&trial->launch, 1);
    trial->well = launch_run(&trial->launch);
    if (trial->launch.timing)
        trial->time = timing_end(trial->launch.timing);
    trace_launched(&trial->time);
    trial->launch.timing = NULL;
    memcpy(trial->out, trial->array->host, OUT_WORDS * 4);
}

/* Returns false if the PTX could not be parsed. */
static inline bool trial_run(Trial *trial)
{
    if (!trial_open(trial))
        return false;
    trial_launch(trial);
    return true;
}

/* The finding of this kind, or NULL. */
static inline const Finding *found(FindingKind kind)
{
    for (int i = 0; i < finding_count(); i++)
        if (finding_at(i)->kind == kind)
            return finding_at(i);
    return NULL;
}

static inline void show_findings(const char *name)
{
    for (int i = 0; i < finding_count(); i++)
        printf("\n    %s: %s: %s (line %d)\n", name, finding_word(finding_at(i)->kind),
               finding_at(i)->text, finding_at(i)->place.line);
}

#endif
