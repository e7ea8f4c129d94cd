/* handlers.c - what a runner does for each command: checks its words, calls the device, answers.
 *
 * A command is a row in a table: its name, how many words follow, and its function. Commands come
 * from the grader, which is trusted. They are checked all the same, since a mistake in the grader
 * must not become a wild write here.
 */
#include "runner/handlers.h"
#include "base/number.h"
#include "runner/contents.h"
#include "base/registry.h"
#include "sim/base/cause.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than any GPU has; small enough that no sum of sizes overflows. */
static const size_t most_bytes = (size_t) 1 << 40;
static const long most_dim = 1L << 36;

enum { ARRAYS = LAB_IN + LAB_OUT + 1 };

/* ---- Arrays ---- */

/* All arrays of a set in a fixed order: inputs, outputs, scratch. */
static Array *array_at(Arrays *arrays, int i)
{
    if (i < LAB_IN)
        return &arrays->in[i];
    return i < LAB_IN + LAB_OUT ? &arrays->out[i - LAB_IN] : &arrays->scratch;
}

static void name_array(char *name, size_t size, int i)
{
    if (i < LAB_IN)
        put(name, size, "in%d", i);
    else if (i < LAB_IN + LAB_OUT)
        put(name, size, "out%d", i - LAB_IN);
    else
        put(name, size, "scratch");
}

static unsigned char guard_byte(int i)
{
    return (unsigned char) (GUARD_BYTE + i);
}

static size_t elements(const Array *array)
{
    return array->rows * array->cols;
}

/* The size of an array in bytes; false if it is out of range. */
static bool size_of(const Array *array, size_t *bytes)
{
    size_t count;

    return (int) array->type >= F32 && array->type <= U8 &&
           !__builtin_mul_overflow(array->rows, array->cols, &count) &&
           !__builtin_mul_overflow(count, element_bytes((Element) array->type), bytes) &&
           *bytes <= most_bytes;
}

/* Frees all sets but the first `sets`. */
static void drop_sets_from(Server *server, int sets)
{
    while (server->set_count > sets) {
        server->set_count--;
        for (int i = 0; i < ARRAYS; i++) {
            Array *array = array_at(&server->sets[server->set_count], i);
            if (array->data)
                server->device->release(array);
            array->data = NULL;
        }
    }
    server->prepared = false;
}

void command_drop_sets(Server *server)
{
    drop_sets_from(server, 0);
}

/* ---- Words ---- */

bool command_usage(char *fault, const char *what)
{
    put(fault, SERVE_ANSWER, "usage %s", what);
    return false;
}

/* ---- Commands: each writes the fields of its answer, or the text of its failure ---- */

static bool hello(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    return server->device->hello(answer, fault);
}

static bool load(Server *server, char **words, char *answer, char *fault)
{
    const LabEntry *entry = lab_find(words[1]);

    if (server->kernel)
        return command_usage(fault, "a kernel is already loaded");
    if (!entry)
        return command_usage(fault, "no such lab");
    if (!server->device->load(entry->folder, entry->lab, words[2], &server->kernel, answer, fault))
        return false;
    server->lab = entry->lab;
    return true;
}

static bool read_case(Server *server, char **words, Case *lab_case, uint64_t *sets, char *fault)
{
    uint64_t index, dim, known = 0;

    while (server->lab->cases[known].label)
        known++;
    if (!parse_whole(words[1], 10, UINT64_MAX, &index) || index >= known)
        return command_usage(fault, "no such case");
    *lab_case = server->lab->cases[index];
    for (int d = 0; d < LAB_DIMS; d++) {
        if (!parse_whole(words[2 + d], 10, (uint64_t) most_dim, &dim))
            return command_usage(fault, "a dimension is out of range");
        lab_case->dim[d] = (long) dim;
    }
    if (!parse_whole(words[6], 10, SERVE_SETS, sets) || *sets < 1)
        return command_usage(fault, "the number of sets is out of range");
    return true;
}

/* The bytes of one set; false if the lab's shape for these dims has an invalid array. */
static bool set_size(Arrays *arrays, size_t *total, char *fault)
{
    *total = 0;
    for (int i = 0; i < ARRAYS; i++) {
        size_t bytes;
        if (!size_of(array_at(arrays, i), &bytes))
            return command_usage(fault, "an array is too large");
        *total += bytes;
    }
    if (!elements(&arrays->out[0]))
        return command_usage(fault, "there is no output");
    return true;
}

static bool allocate_set(Server *server, const Arrays *shape, char *fault)
{
    Arrays *set = &server->sets[server->set_count++];

    *set = *shape;
    for (int i = 0; i < ARRAYS; i++) {
        Array *array = array_at(set, i);
        array->data = NULL;
        if (elements(array) && !server->device->allocate(array, guard_byte(i), fault)) {
            array->data = NULL;
            return false;
        }
    }
    return true;
}

/* True if arrays of this shape are already allocated. Reusing them saves time: allocating pinned
 * memory takes as long as filling it. */
static bool are_sets_of(const Server *server, const Arrays *shape)
{
    Arrays wanted = *shape, there = server->sets[0];

    if (!server->set_count)
        return false;
    for (int i = 0; i < ARRAYS; i++) {
        const Array *a = array_at(&wanted, i), *b = array_at(&there, i);
        if (a->type != b->type || a->rows != b->rows || a->cols != b->cols || a->host != b->host ||
            a->name != b->name || a->fill.kind != b->fill.kind || a->fill.lo != b->fill.lo ||
            a->fill.hi != b->fill.hi)
            return false;
    }
    return true;
}

static bool take_case(Server *server, char **words, char *answer, char *fault)
{
    Arrays shape = { 0 };
    uint64_t sets = 0;
    size_t bytes = 0;
    bool fine;

    if (!server->lab)
        return command_usage(fault, "no kernel is loaded");
    server->prepared = false;
    fine = read_case(server, words, &server->lab_case, &sets, fault);
    if (fine)
        server->lab->shape(&server->lab_case, &shape);
    fine = fine && set_size(&shape, &bytes, fault);
    drop_sets_from(server, fine && are_sets_of(server, &shape) ? (int) sets : 0);
    while (fine && server->set_count < (int) sets)
        fine = allocate_set(server, &shape, fault);
    if (!fine)
        command_drop_sets(server);
    put(answer, SERVE_ANSWER, "bytes:%zu", bytes * (size_t) sets);
    return fine;
}

static bool prepare_set(Server *server, Arrays *set, uint64_t seed, unsigned char poison,
                        char *fault)
{
    for (int i = 0; i < ARRAYS; i++) {
        const Array *array = array_at(set, i);
        const Source source = { seed, i };
        if (!array->data)
            continue;
        if (i < LAB_IN ? !server->device->fill(array, &source, fault)
                       : !server->device->poison(array, poison, fault))
            return false;
    }
    return true;
}

static bool prepare(Server *server, char **words, char *answer, char *fault)
{
    uint64_t seed, poison;

    (void) answer;
    if (!server->set_count)
        return command_usage(fault, "there are no arrays");
    if (!parse_whole(words[1], 16, UINT64_MAX, &seed) || !parse_whole(words[2], 10, 255, &poison))
        return command_usage(fault, "expected a seed in hex and a byte");
    server->prepared = false;
    if (!server->device->settle(fault))
        return false;
    for (int k = 0; k < server->set_count; k++)
        if (!prepare_set(server, &server->sets[k], set_seed(seed, k), (unsigned char) poison,
                         fault))
            return false;
    if (!server->device->filled(fault))
        return false;
    server->prepared = true;
    return true;
}

static bool go(Server *server, char **words, char *answer, char *fault)
{
    uint64_t calls;
    double ms = 0;

    if (!server->prepared)
        return command_usage(fault, "nothing is prepared");
    if (!parse_whole(words[1], 10, (uint64_t) server->set_count, &calls) || calls < 1)
        return command_usage(fault, "the number of calls is out of range");
    if (!server->device->time_calls(server->lab, &server->lab_case, server->kernel, server->sets,
                                    (int) calls, &ms, fault))
        return false;
    put(answer, SERVE_ANSWER, "ms:%.9g", ms);
    return true;
}

/* "1" is out[1], "in:1" is in[1]. Returns NULL if there is no such array. */
static const Array *named_array(Arrays *arrays, const char *word)
{
    bool input = !strncmp(word, "in:", 3);
    uint64_t i;

    if (!parse_whole(input ? word + 3 : word, 10, (input ? LAB_IN : LAB_OUT) - 1, &i))
        return NULL;
    return input ? &arrays->in[i] : &arrays->out[i];
}

static bool window(Server *server, char **words, char *answer, char *fault)
{
    uint64_t set, first, count;
    const Array *array;
    size_t all;

    (void) answer;
    if (!server->prepared)
        return command_usage(fault, "nothing is prepared");
    if (!parse_whole(words[1], 10, (uint64_t) server->set_count - 1, &set) ||
        !(array = named_array(&server->sets[set], words[2])) || !array->data)
        return command_usage(fault, "no such array");
    all = elements(array);
    if (!parse_whole(words[3], 10, all, &first) ||
        !parse_whole(words[4], 10, all - first, &count) || !count ||
        count > server->shared_bytes / element_bytes((Element) array->type))
        return command_usage(fault, "the window is out of range");
    return server->device->fetch(array, first, count, server->shared, fault);
}

static bool stray(char *fault, int set, int i, const char *side, size_t at)
{
    char name[16];

    name_array(name, sizeof name, i);
    put(fault, SERVE_ANSWER, "stray set:%d array:%s side:%s offset:%zu", set, name, side, at);
    return false;
}

/* Checks array i of a set: its guards and, for an input, its contents. */
static bool check_array(Server *server, int set, int i, const Source *source, char *fault)
{
    const Array *array = array_at(&server->sets[set], i);
    size_t at = SIZE_MAX;
    bool before = false, same = true;

    if (!array->data)
        return true;
    if (!server->device->guards_whole(array, guard_byte(i), &at, &before, fault))
        return false;
    if (at != SIZE_MAX)
        return stray(fault, set, i, before ? "before" : "after", at);
    if (i < LAB_IN && !server->device->holds(array, source, &at, &same, fault))
        return false;
    return same || stray(fault, set, i, "inside", at);
}

static bool guards(Server *server, char **words, char *answer, char *fault)
{
    uint64_t seed;

    (void) answer;
    if (!server->prepared)
        return command_usage(fault, "nothing is prepared");
    if (!parse_whole(words[1], 16, UINT64_MAX, &seed))
        return command_usage(fault, "expected a seed in hex");
    for (int k = 0; k < server->set_count; k++)
        for (int i = 0; i < ARRAYS; i++) {
            const Source source = { set_seed(seed, k), i };
            if (!check_array(server, k, i, &source, fault))
                return false;
        }
    return true;
}

static bool set_checks(Server *server, char **words, char *answer, char *fault)
{
    uint64_t on, order, budget;

    (void) answer;
    if (!server->device->checks)
        return command_usage(fault, "only a simulated GPU checks");
    if (!parse_whole(words[1], 10, 1, &on) || !parse_whole(words[2], 10, UINT64_MAX, &order) ||
        !parse_whole(words[3], 10, UINT64_MAX, &budget))
        return command_usage(fault, "expected 0 or 1 and two numbers");
    return server->device->checks(on, order, budget, fault);
}

/* Reads a counter for the first set's arrays. */
static bool count(Server *server, char **words, char *answer, char *fault)
{
    uint64_t counter, i;
    const Array *array = NULL;

    if (!server->device->count)
        return command_usage(fault, "only a simulated GPU counts");
    if (!server->prepared)
        return command_usage(fault, "nothing is prepared");
    if (!parse_whole(words[1], 10, COUNTERS - 1, &counter) ||
        !parse_whole(words[2], 10, (counter == SECTORS_WRITTEN ? LAB_OUT : LAB_IN) - 1, &i))
        return command_usage(fault, "expected a counter and an array");
    if (counter == SECTORS_READ || counter == SECTORS_WRITTEN)
        array = counter == SECTORS_READ ? &server->sets[0].in[i] : &server->sets[0].out[i];
    if (array && !array->data)
        return command_usage(fault, "no such array");
    return server->device->count((Counter) counter, array, answer, fault);
}

static bool model_time(Server *server, char **words, char *answer, char *fault)
{
    uint64_t without;

    (void) answer;
    if (!server->device->model_time)
        return command_usage(fault, "only a simulated GPU models time");
    if (!parse_whole(words[1], 10, (1u << CAUSES) - 1, &without))
        return command_usage(fault, "expected causes");
    return server->device->model_time((unsigned) without, fault);
}

static bool timed(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    if (!server->device->timed)
        return command_usage(fault, "only a simulated GPU models time");
    return server->device->timed(answer, fault);
}

static bool read_clock(Server *server, char **words, char *answer, char *fault)
{
    double mhz = 0;

    (void) words;
    if (!server->device->clock_mhz(&mhz, fault))
        return false;
    put(answer, SERVE_ANSWER, "mhz:%.6g", mhz);
    return true;
}

static bool limits(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    if (!server->device->limits)
        return command_usage(fault, "only a simulated GPU knows its limits");
    return server->device->limits(answer, fault);
}

static bool cost(Server *server, char **words, char *answer, char *fault)
{
    uint64_t i;

    if (!server->device->cost)
        return command_usage(fault, "only a simulated GPU knows what lines cost");
    if (!parse_whole(words[1], 10, 1000, &i))
        return command_usage(fault, "expected the number of a line");
    return server->device->cost((int) i, answer, fault);
}

/* A number, or "any": -1. */
static bool number_or_any(const char *word, uint64_t most, int64_t *value)
{
    uint64_t number = 0;
    const bool any = !strcmp(word, "any");

    if (!any && !parse_whole(word, 10, most, &number))
        return false;
    *value = any ? -1 : (int64_t) number;
    return true;
}

static bool record(Server *server, char **words, char *answer, char *fault)
{
    int64_t block, warp;

    (void) answer;
    if (!server->device->record)
        return command_usage(fault, "only a simulated GPU records");
    if (!number_or_any(words[1], INT64_MAX, &block) || !number_or_any(words[2], 31, &warp))
        return command_usage(fault, "expected a block and a warp");
    return server->device->record(block, (int) warp, fault);
}

static bool records(Server *server, char **words, char *answer, char *fault)
{
    size_t bytes = 0;

    (void) words;
    if (!server->device->records)
        return command_usage(fault, "only a simulated GPU records");
    if (!server->device->records(server->shared, server->shared_bytes, &bytes, fault))
        return false;
    put(answer, SERVE_ANSWER, "bytes:%zu", bytes);
    return true;
}

static bool trace(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    (void) answer;
    if (!server->device->trace)
        return command_usage(fault, "only a simulated GPU traces");
    return server->device->trace(fault);
}

static bool traced(Server *server, char **words, char *answer, char *fault)
{
    size_t bytes = 0;

    (void) words;
    if (!server->device->traced)
        return command_usage(fault, "only a simulated GPU traces");
    if (!server->device->traced(server->shared, server->shared_bytes, &bytes, fault))
        return false;
    put(answer, SERVE_ANSWER, "bytes:%zu", bytes);
    return true;
}

static bool drop(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    (void) answer;
    (void) fault;
    command_drop_sets(server);
    return true;
}

static bool quit(Server *server, char **words, char *answer, char *fault)
{
    (void) words;
    (void) answer;
    (void) fault;
    server->done = true;
    return true;
}

/* The last word takes the rest of its line, because paths may contain blanks. */
const Command commands[] = {
    { "hello", 0, hello },
    { "load", 2, load },
    { "case", 6, take_case },
    { "prepare", 2, prepare },
    { "go", 1, go },
    { "window", 4, window },
    { "guards", 1, guards },
    { "limits", 0, limits },
    { "cost", 1, cost },
    { "record", 2, record },
    { "records", 0, records },
    { "trace", 0, trace },
    { "traced", 0, traced },
    { "clock", 0, read_clock },
    { "checks", 3, set_checks },
    { "count", 2, count },
    { "model", 1, model_time },
    { "timed", 0, timed },
    { "drop", 0, drop },
    { "quit", 0, quit },
    { 0 },
};
