/* limits_sim.c - what limited the student's kernels on a simulated GPU, as the answers to `limits`
 * and `cost` (runner/protocol.h), and the records for pictures. */
#include "runner/device_cuda.h"
#include "base/util.h"

#include "sim/runtime/query.h"

#include <string.h>

enum { MOST_LINES = 1024 };

/* Writes a field unless its value is 0. */
static void put_field(char *answer, size_t size, const char *prefix, const char *key, double value)
{
    if (value > 0)
        append(answer, size, " %s%s:%.6g", prefix, key, value);
}

static void put_spent(char *answer, size_t size, const Spent *spent)
{
    for (int i = 0; i < LIMITS; i++)
        put_field(answer, size, "ns_", limit_keys[i], spent->at[i]);
}

int device_limits(char *answer, size_t size)
{
    Limits limits;
    SimRoofs roofs;

    if (!simLimits(&limits, &roofs))
        return 0;
    put(answer, size, "tflops:%.6g gbps:%.6g", roofs.fp32_tflops, roofs.memory_gbps);
    put_spent(answer, size, &limits.spent);
    for (int i = 0; i < LIMITS; i++)
        put_field(answer, size, "busy_", limit_keys[i], limits.busy[i]);
    for (int i = 0; i < WAITS; i++)
        put_field(answer, size, "wait_", wait_keys[i], limits.waits[i]);
    for (int i = 0; i < LIMIT_COUNTS; i++)
        put_field(answer, size, "", limit_counts[i].key, *limit_count(&limits, i));
    return 1;
}

/* ---- Lines ---- */

static int is_kernels_own(const char *file)
{
    const char *end = file ? strrchr(file, '.') : NULL;

    return end && !strcmp(end, ".cu");
}

static void add_traffic(SimTraffic *sum, const SimTraffic *more)
{
    sum->requests += more->requests;
    sum->passes += more->passes;
    sum->asked += more->asked;
}

static void add_line(SimLine *sum, const SimLine *more)
{
    sum->instructions += more->instructions;
    sum->lanes += more->lanes;
    add_traffic(&sum->global_load, &more->global_load);
    add_traffic(&sum->global_store, &more->global_store);
    add_traffic(&sum->global_atomic, &more->global_atomic);
    add_traffic(&sum->shared, &more->shared);
    spent_add(&sum->spent, &more->spent, 1);
}

/* Collects the source lines. Several kernels may use the same line. Steps without a line, such as
 * the loading of parameters, are left out: as an answer, line 0 would end the list. */
static int gather(SimLine *lines)
{
    SimLine line;
    int count = 0, at;

    for (int i = 0; simLine(i, &line); i++) {
        if (line.line < 1 || !is_kernels_own(line.file))
            continue;
        for (at = 0; at < count && lines[at].line != line.line; at++)
            ;
        if (at < count)
            add_line(&lines[at], &line);
        else if (count < MOST_LINES)
            lines[count++] = line;
    }
    return count;
}

/* The i-th costliest line; the first of equal ones. NULL if there are fewer lines. */
static SimLine *costliest(SimLine *lines, int count, int i)
{
    SimLine *most = NULL;

    for (int taken = 0; taken <= i; taken++) {
        if (most)
            most->spent = (Spent){ { 0 } };
        most = NULL;
        for (int k = 0; k < count; k++)
            if (spent_sum(&lines[k].spent) > (most ? spent_sum(&most->spent) : 0))
                most = &lines[k];
        if (!most)
            return NULL;
    }
    return most;
}

static void put_traffic(char *answer, size_t size, const char *prefix, const SimTraffic *traffic)
{
    put_field(answer, size, prefix, "requests", (double) traffic->requests);
    put_field(answer, size, prefix, "passes", (double) traffic->passes);
    put_field(answer, size, prefix, "asked", (double) traffic->asked);
}

int device_cost(int i, char *answer, size_t size)
{
    static SimLine lines[MOST_LINES];
    const SimLine *line = costliest(lines, gather(lines), i);

    if (!line)
        return 0;
    put(answer, size, "line:%d", line->line);
    put_field(answer, size, "", "instructions", (double) line->instructions);
    put_field(answer, size, "", "lanes", (double) line->lanes);
    put_field(answer, size, "", "barriers", (double) line->barriers);
    put_traffic(answer, size, "load_", &line->global_load);
    put_traffic(answer, size, "store_", &line->global_store);
    put_traffic(answer, size, "atomic_", &line->global_atomic);
    put_traffic(answer, size, "shared_", &line->shared);
    put_spent(answer, size, &line->spent);
    return 1;
}

/* ---- Records ---- */

int device_record(long long block, int warp)
{
    return simRecord(&(RecordFilter){ .block = block, .warp = warp });
}

size_t device_records(void *to, size_t room)
{
    return room >= sizeof(Records) && simRecords(to) ? sizeof(Records) : 0;
}

int device_trace(void)
{
    return simTrace();
}

size_t device_traced(void *to, size_t room)
{
    return simTraced(to, room);
}
