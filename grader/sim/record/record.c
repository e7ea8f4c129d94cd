/* record.c - keeps samples of what launches do: one access per instruction, the steps of one warp,
 * the stores of one block, and when each block ran. */
#include "sim/record/record.h"
#include "sim/exec/access.h"
#include "sim/record/map.h"
#include "sim/record/typical.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Records *records; /* NULL: off */
static int launch_now;   /* index of the running launch; -1: no room for it */
static int lane_steps;   /* number of steps kept of the running launch */
static int last_access;  /* index of the last access found */
static int first_turn;   /* index of the running launch's first turn */

bool record_start(const RecordFilter *filter)
{
    if (!records)
        records = malloc(sizeof *records);
    if (!records)
        return false;
    memset(records, 0, sizeof *records);
    records->filter = *filter;
    launch_now = -1;
    last_access = 0;
    return true;
}

void record_stop(void)
{
    free(records);
    records = NULL;
}

Records *record_so_far(void)
{
    return records;
}

/* ---- Names ---- */

/* Names come from a student's code: only printable characters are kept. */
static void copy_name(char to[RECORD_NAME], const char *from, int length)
{
    snprintf(to, RECORD_NAME, "%.*s", length, from ? from : "");
    for (char *c = to; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* The line of a .cu file that is charged; 0 for other files and unknown lines. */
static int line_of(const Launch *launch, const Step *step)
{
    const Module *module = launch->module;
    const int file = step->in ? step->in->charged_file : 0;
    const char *name = module && file > 0 && file < module->file_count ? module->files[file] : NULL;
    const char *end = name ? strrchr(name, '.') : NULL;

    return end && !strcmp(end, ".cu") ? step->in->charged_line : 0;
}

/* ---- Launches ---- */

static void add_variables(const Launch *launch)
{
    const Module *module = launch->module;

    for (int i = 0; i < module->variable_count && records->variable_count < MOST_VARIABLES; i++) {
        const Variable *v = &module->variables[i];
        const bool is_its =
            v->function < 0 || &module->functions[v->function] == launch->kernel->function;
        SharedVariable *to = &records->variables[records->variable_count];
        if (v->space != SPACE_SHARED || !is_its)
            continue;
        *to = (SharedVariable){ .launch = launch_now,
                                .offset = launch->kernel->variable_offset[i],
                                .bytes =
                                    v->size ? (int) v->size : (int) launch->dynamic_shared_bytes };
        const Name name = name_in_source(v->name);
        copy_name(to->name, name.at, name.length);
        records->variable_count++;
    }
}

static void launch_begin(Launch *launch)
{
    RecordedLaunch *to;

    lane_steps = 0;
    first_turn = records->turn_count;
    typical_begin();
    if (records->launch_count == MOST_LAUNCHES) {
        launch_now = -1;
        records->lost_launches++;
        return;
    }
    launch_now = records->launch_count++;
    to = &records->launches[launch_now];
    *to = (RecordedLaunch){ .resident = launch->resident,
                            .shared_bytes = (int) launch->shared_bytes };
    copy_name(to->kernel, launch->name, launch->name ? (int) strcspn(launch->name, "(") : 0);
    memcpy(to->grid, launch->grid, sizeof to->grid);
    memcpy(to->block, launch->block, sizeof to->block);
    add_variables(launch);
}

static void add_totals(RecordedLaunch *to, const Code *code, const Count *counts)
{
    for (int i = 0; code && counts && i < code->step_count; i++) {
        to->executed += counts[i].executed;
        to->lanes += counts[i].lanes;
    }
}

/* The counters of an access's instruction. The upper bits of `step` are the number of a function
 * that the kernel calls; 0: the kernel itself. */
static const Count *count_at(const Launch *launch, int step)
{
    const int function = step >> 20, at = step & ((1 << 20) - 1);

    if (!function)
        return launch->counts ? &launch->counts[at] : NULL;
    return launch->call_counts && launch->call_counts[function - 1]
               ? &launch->call_counts[function - 1][at]
               : NULL;
}

static void add_counters(const Launch *launch, WarpAccess *accesses, int access_count)
{
    for (int i = 0; i < access_count; i++) {
        WarpAccess *a = &accesses[i];
        const Count *count = a->launch == launch_now ? count_at(launch, a->step) : NULL;
        if (!count)
            continue;
        a->requests = a->space == RECORD_GLOBAL ? count->requests : count->executed;
        a->all_passes = a->space == RECORD_GLOBAL ? count->sectors : count->wavefronts;
        a->all_least = a->space == RECORD_GLOBAL ? count->bytes : count->ideal;
    }
}

static void launch_end(Launch *launch)
{
    if (launch_now < 0)
        return;
    typical_end(&records->launches[launch_now]);
    add_totals(&records->launches[launch_now], launch->kernel, launch->counts);
    for (int f = 0; launch->codes && launch->call_counts && f < launch->module->function_count; f++)
        if (launch->call_counts[f] != launch->counts)
            add_totals(&records->launches[launch_now], launch->codes[f], launch->call_counts[f]);
    add_counters(launch, records->accesses, records->access_count);
    add_counters(launch, records->turns, records->turn_count);
}

/* ---- Accesses ---- */

/* The number of a step, with the number of the called function in the upper bits. */
static int number_of(const Warp *warp, const Step *step)
{
    const Code *code = warp->code;
    const int function = warp->frame ? (int) (code->function - code->module->functions) + 1 : 0;

    return function << 20 | (int) (step - code->steps);
}

static bool is_filtered(const Warp *warp)
{
    const RecordFilter *f = &records->filter;

    return (f->block >= 0 && f->block != warp->block->number) ||
           (f->warp >= 0 && f->warp != warp->number);
}

static const char *array_name(const Allocation *a)
{
    return !a ? "" : a->label ? a->label : a->name ? a->name : "array";
}

static bool is_same_array(const RecordedArray *a, const RecordedArray *b)
{
    return a->bytes == b->bytes && a->start == b->start && !strcmp(a->name, b->name);
}

/* The array's index; -1: the table is full. */
static int array_of(const Allocation *a)
{
    static RecordedArray new;

    new.bytes = a ? a->bytes : 0;
    new.start = a ? (int) (a->base % RECORD_LINE_BYTES) : 0;
    new.row_bytes = a ? a->row_bytes : 0;
    copy_name(new.name, array_name(a), RECORD_NAME - 1);
    for (int i = 0; i < records->array_count; i++)
        if (is_same_array(&records->arrays[i], &new))
            return i;
    if (records->array_count == MOST_ARRAYS)
        return -1;
    map_begin(&new);
    records->arrays[records->array_count] = new;
    return records->array_count++;
}

/* The address from which offsets count: the start of the array or, if lanes access several arrays,
 * the line of the lowest address. */
static uint64_t origin_of(const Access *x)
{
    uint64_t lowest = UINT64_MAX;

    if (x->space == SPACE_SHARED)
        return 0;
    if (x->allocation)
        return x->allocation->base / RECORD_LINE_BYTES * RECORD_LINE_BYTES;
    for (uint32_t left = x->mask; left; left &= left - 1)
        if (x->address[first_lane(left)] < lowest)
            lowest = x->address[first_lane(left)];
    return lowest / RECORD_LINE_BYTES * RECORD_LINE_BYTES;
}

static bool is_access(const WarpAccess *a, int step, RecordSpace space)
{
    return a->step == step && a->space == (int) space && a->launch == launch_now;
}

/* Searches from the last access found, since instructions usually follow each other. */
static WarpAccess *access_at(int step, RecordSpace space)
{
    for (int i = 0; i < records->access_count; i++) {
        const int at = (last_access + 1 + i) % records->access_count;
        if (is_access(&records->accesses[at], step, space))
            return &records->accesses[last_access = at];
    }
    if (records->access_count == MOST_ACCESSES) {
        records->lost_accesses++;
        return NULL;
    }
    last_access = records->access_count++;
    records->accesses[last_access] =
        (WarpAccess){ .launch = launch_now, .step = step, .space = space, .passes = -1 };
    return &records->accesses[last_access];
}

static int least_of(const Access *x, int passes)
{
    const int least = x->space == SPACE_SHARED
                          ? x->shape->ideal
                          : (x->shape->asked + RECORD_SECTOR_BYTES - 1) / RECORD_SECTOR_BYTES;

    return least < passes ? least : passes;
}

/* Sets everything but the counters. */
static void fill_access(WarpAccess *a, const Access *x, int array)
{
    const bool is_shared = x->space == SPACE_SHARED;
    const uint64_t origin = origin_of(x);

    a->launch = launch_now;
    a->step = number_of(x->warp, x->step);
    a->line = line_of(x->warp->block->launch, x->step);
    a->space = is_shared ? RECORD_SHARED : RECORD_GLOBAL;
    a->kind = (int) x->kind;
    a->array = array;
    a->bytes = x->bytes;
    a->block = x->warp->block->number;
    a->warp = x->warp->number;
    a->mask = x->mask;
    a->passes = is_shared ? x->shape->wavefronts : x->shape->sectors;
    a->least = least_of(x, a->passes);
    for (int lane = 0; lane < RECORD_LANES; lane++)
        a->address[lane] = x->mask >> lane & 1 ? x->address[lane] - origin : 0;
}

static void keep_access(const Access *x, int array)
{
    const bool is_shared = x->space == SPACE_SHARED;
    const int passes = is_shared ? x->shape->wavefronts : x->shape->sectors;
    WarpAccess *a =
        access_at(number_of(x->warp, x->step), is_shared ? RECORD_SHARED : RECORD_GLOBAL);

    if (a && passes > a->passes)
        fill_access(a, x, array);
}

/* ---- Turns: the first accesses of a line by one warp ---- */

/* True if the access belongs to the list that begins with `first`. */
static bool is_same_list(const WarpAccess *first, const Access *x, int line, int array)
{
    return first->line == line && first->array == array && first->kind == (int) x->kind &&
           (first->space == RECORD_SHARED) == (array < 0);
}

/* Instructions usually come back soon, so the search begins with the newest rows. */
static void keep_turn(const Access *x, int array)
{
    const int line = line_of(x->warp->block->launch, x->step);
    int count = 0;

    for (int i = records->turn_count - 1; line && i >= first_turn && count < TURNS_PER_LINE; i--) {
        const WarpAccess *a = &records->turns[i];
        if (!is_same_list(a, x, line, array))
            continue;
        if (a->block != x->warp->block->number || a->warp != x->warp->number)
            return;
        count++;
    }
    if (!line || count == TURNS_PER_LINE)
        return;
    if (records->turn_count == MOST_TURNS)
        records->lost_turns++;
    else
        fill_access(&records->turns[records->turn_count++], x, array);
}

static void touch_shared(const Access *x)
{
    uint8_t *touched = records->launches[launch_now].touched;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const uint64_t at = x->address[first_lane(left)];
        for (uint64_t word = at / RECORD_WORD_BYTES;
             word <= (at + (uint64_t) x->bytes - 1) / RECORD_WORD_BYTES && word < MOST_SHARED_WORDS;
             word++)
            touched[word / 8] |= (uint8_t) (1u << word % 8);
    }
}

/* ---- Stores: which thread writes which element ---- */

static BlockTile *tile_of(int64_t block, int array)
{
    for (int i = records->block_tile_count - 1; i >= 0; i--) {
        BlockTile *t = &records->block_tiles[i];
        if (t->launch != launch_now || t->block != block)
            break; /* the stores of a block are adjacent, except for blocks that take turns */
        if (t->array == array)
            return t;
    }
    if (records->block_tile_count == MOST_BLOCK_TILES) {
        records->lost_block_tiles++;
        return NULL;
    }
    records->block_tiles[records->block_tile_count] =
        (BlockTile){ .launch = launch_now, .array = array, .block = block, .first = UINT64_MAX };
    return &records->block_tiles[records->block_tile_count++];
}

static void keep_write(const Access *x, int array, int lane, uint64_t offset)
{
    if (records->write_count == MOST_WRITES) {
        records->lost_writes++;
        return;
    }
    records->writes[records->write_count++] = (ElementWrite){ .launch = launch_now,
                                                              .array = (uint8_t) array,
                                                              .warp = (uint8_t) x->warp->number,
                                                              .lane = (uint8_t) lane,
                                                              .bytes = (uint8_t) x->bytes,
                                                              .offset = offset };
}

static void keep_writes(const Access *x, int array)
{
    const int64_t block = x->warp->block->number;
    const uint64_t origin = origin_of(x);
    const int64_t kept = records->filter.block < 0 ? 0 : records->filter.block;
    BlockTile *tile = array < 0 ? NULL : tile_of(block, array);

    for (uint32_t left = tile ? x->mask : 0; left; left &= left - 1) {
        const int lane = first_lane(left);
        const uint64_t offset = x->address[lane] - origin;
        if (offset < tile->first)
            tile->first = offset;
        if (block == kept)
            keep_write(x, array, lane, offset);
    }
}

static void observe_access(Access *x)
{
    const int array = launch_now < 0 || x->space == SPACE_SHARED ? -1 : array_of(x->allocation);

    if (launch_now < 0)
        return;
    if (!is_filtered(x->warp) && (x->space == SPACE_SHARED || array >= 0)) {
        keep_access(x, array);
        keep_turn(x, array);
    }
    if (x->allocation && array >= 0)
        map_add(&records->arrays[array], x, origin_of(x), launch_now);
    if (x->space == SPACE_SHARED)
        touch_shared(x);
    else if (x->kind != ACCESS_LOAD)
        keep_writes(x, x->allocation ? array : -1);
}

/* ---- Steps and blocks ---- */

static void observe_step(Warp *warp, int pc, uint32_t executed)
{
    const RecordFilter *f = &records->filter;
    const Step *step = &warp->code->steps[pc];

    typical_step(warp, executed);
    if (launch_now < 0 || warp->block->number != (f->block < 0 ? 0 : f->block) ||
        warp->number != (f->warp < 0 ? 0 : f->warp) || !step->in)
        return;
    if (records->lane_step_count == MOST_LANE_STEPS || lane_steps == LANE_STEPS_PER_LAUNCH) {
        records->lost_lane_steps++;
        return;
    }
    lane_steps++;
    records->lane_steps[records->lane_step_count++] =
        (LaneStep){ .launch = launch_now,
                    .step = number_of(warp, step),
                    .line = line_of(warp->block->launch, step),
                    .active = warp->active,
                    .executed = executed };
}

static void observe_block(Launch *launch, const BlockPlayed *played)
{
    (void) launch;
    if (launch_now < 0)
        return;
    records->launches[launch_now].played++;
    if (records->block_span_count == MOST_BLOCK_SPANS) {
        records->lost_block_spans++;
        return;
    }
    records->block_spans[records->block_span_count++] = (BlockSpan){ .launch = launch_now,
                                                                     .sm = played->sm,
                                                                     .block = played->block,
                                                                     .begin = played->begin,
                                                                     .end = played->end };
    if ((double) played->end > records->launches[launch_now].cycles)
        records->launches[launch_now].cycles = (double) played->end;
}

static const Observer recorder = {
    .launch_begin = launch_begin,
    .launch_end = launch_end,
    .access = observe_access,
    .block_played = observe_block,
};

void record_launch(Launch *launch)
{
    int count = 0;

    if (!records)
        return;
    while (count < MOST_OBSERVERS && launch->observers[count])
        count++;
    if (count < MOST_OBSERVERS)
        launch->observers[count] = &recorder;
    launch->step = observe_step;
}
