/* metrics.c - which of a GPU's counters each lesson uses, in the lesson's words. */
#include "learner/profile/profile.h"
#include "base/util.h"

#include <string.h>

#define GLOBAL(what, op) "l1tex__t_" what "_pipe_lsu_mem_global_op_" op ".sum"
#define SHARED(what, op) "l1tex__data_" what "_mem_shared_op_" op ".sum"
#define WAVEFRONTS(op)   SHARED("pipe_lsu_wavefronts", op)
#define CONFLICTS(op)    SHARED("bank_conflicts_pipe_lsu", op)
#define STALL(reason)    "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"

const ProfileRow profile_rows[] = {
    { "", "time, with the clock that ncu sets", "gpu__time_duration.sum", NULL, 1e-3, 1, "us" },
    { "", "memory throughput, of its peak", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
      NULL, 1, 1, "%" },
    { "", "SM throughput, of its peak", "sm__throughput.avg.pct_of_peak_sustained_elapsed", NULL, 1,
      1, "%" },
    { "loads", "sectors per request, loads", GLOBAL("sectors", "ld"), GLOBAL("requests", "ld"), 1,
      2, "" },
    { "stores", "sectors per request, stores", GLOBAL("sectors", "st"), GLOBAL("requests", "st"), 1,
      2, "" },
    { "shared_loads", "shared memory wavefronts, loads", WAVEFRONTS("ld"), NULL, 1, 0, "" },
    { "shared_loads", "of these because of bank conflicts", CONFLICTS("ld"), NULL, 1, 0, "" },
    { "shared_stores", "shared memory wavefronts, stores", WAVEFRONTS("st"), NULL, 1, 0, "" },
    { "shared_stores", "of these because of bank conflicts", CONFLICTS("st"), NULL, 1, 0, "" },
    { "lanes", "active lanes per instruction, of 32",
      "smsp__thread_inst_executed_per_inst_executed.ratio", NULL, 1, 2, "" },
    { "issue", "cycles in which a scheduler issues",
      "smsp__issue_active.avg.pct_of_peak_sustained_active", NULL, 1, 1, "%" },
    { "waits", "warps that wait for arithmetic, per issue", STALL("wait"), NULL, 1, 2, "" },
    { "waits", "warps that wait for memory, per issue", STALL("long_scoreboard"), NULL, 1, 2, "" },
    { "barriers", "warps that wait at a barrier, per issue", STALL("barrier"), NULL, 1, 2, "" },
    { "occupancy", "achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", NULL,
      1, 1, "%" },
    { "waves", "waves per SM", "launch__waves_per_multiprocessor", NULL, 1, 2, "" },
    { "registers", "registers per thread", "launch__registers_per_thread", NULL, 1, 0, "" },
    { "fma_loads", "shared load wavefronts per FMA of a warp", WAVEFRONTS("ld"),
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32, 3, "" },
    { 0 },
};

/* True if the topic is a word of the lab's `.profile`. */
bool profile_row_is_for(const ProfileRow *row, const LabEntry *entry)
{
    const size_t length = strlen(row->topic);
    size_t word;

    for (const char *at = entry->lab->profile; at && *at; at += word + strspn(at + word, " ")) {
        word = strcspn(at, " ");
        if (word == length && !strncmp(at, row->topic, length))
            return true;
    }
    return !length;
}

/* What describes the launch itself comes with ncu's section LaunchStats. */
static void add_metric(const char *metric, char *text, size_t size)
{
    const char *at = metric ? strstr(text, metric) : text;

    if (!metric || !strncmp(metric, "launch__", 8) ||
        (at && (at[strlen(metric)] == ',' || !at[strlen(metric)])))
        return;
    append(text, size, "%s%s", *text ? "," : "", metric);
}

void profile_metrics(const LabEntry *entry, char *text, size_t size)
{
    *text = 0;
    for (const ProfileRow *row = profile_rows; row->words; row++)
        if (profile_row_is_for(row, entry)) {
            add_metric(row->metric, text, size);
            add_metric(row->per, text, size);
        }
}
