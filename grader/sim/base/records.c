/* records.c - validates records that another process wrote. */
#include "sim/base/records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger numbers cannot be right, and sums of smaller ones cannot overflow. */
#define MOST_COUNT  (1ull << 52)
#define MOST_OFFSET (1ull << 48)
#define MOST_NUMBER 1e15

static bool between(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static bool is_number(double value)
{
    return isfinite(value) && value >= 0 && value < MOST_NUMBER;
}

/* True if the text is NUL-terminated and printable. */
static bool is_text(const char *text, size_t size)
{
    const char *end = memchr(text, 0, size);

    for (const char *c = text; end && c < end; c++)
        if (*c < ' ' || *c > '~')
            return false;
    return end != NULL;
}

static bool in_launch(const Records *r, int launch)
{
    return between(launch, 0, r->launch_count - 1);
}

static bool in_array(const Records *r, int array)
{
    return between(array, 0, r->array_count - 1);
}

/* ---- One row of each table ---- */

static bool check_cell(const Records *r, const MapCell *c)
{
    return c->kinds <= 7 && c->moved < MOST_COUNT && c->used < MOST_COUNT && c->warp < 32 &&
           c->lane < RECORD_LANES && between(c->block, 0, INT64_MAX) &&
           (!c->kinds || in_launch(r, c->launch));
}

static bool check_array(const Records *r, int i)
{
    const RecordedArray *a = &r->arrays[i];
    bool fine = is_text(a->name, sizeof a->name) && a->bytes < MOST_OFFSET &&
                between(a->start, 0, RECORD_LINE_BYTES - 1) && a->row_bytes < MOST_OFFSET &&
                a->cell_rows < MOST_OFFSET && between(a->across, 0, MAP_CELLS) &&
                (!a->cell_rows || (a->row_bytes && a->across));

    for (int level = 0; level < MAP_LEVELS; level++) {
        fine = fine && a->cell_bytes[level] < MOST_OFFSET;
        for (int cell = 0; fine && cell < MAP_CELLS; cell++)
            fine = check_cell(r, &a->cells[level][cell]);
    }
    return fine;
}

static bool check_launch(const Records *r, int i)
{
    const RecordedLaunch *l = &r->launches[i];
    bool fine = is_text(l->kernel, sizeof l->kernel) && between(l->resident, 0, 1 << 24) &&
                between(l->played, 0, INT64_C(1) << 48) && is_number(l->cycles) &&
                between(l->shared_bytes, 0, MOST_SHARED_WORDS * RECORD_WORD_BYTES) &&
                l->executed < MOST_COUNT && l->lanes < MOST_COUNT &&
                between(l->typical_block, 0, INT64_MAX) && between(l->typical_warp, 0, 31);

    for (int d = 0; d < 3; d++)
        fine = fine && between(l->grid[d], 1, INT32_MAX) && between(l->block[d], 1, 1024);
    return fine;
}

static bool check_variable(const Records *r, int i)
{
    const SharedVariable *v = &r->variables[i];

    return in_launch(r, v->launch) && is_text(v->name, sizeof v->name) &&
           between(v->offset, 0, MOST_SHARED_WORDS * RECORD_WORD_BYTES) &&
           between(v->bytes, 0, MOST_SHARED_WORDS * RECORD_WORD_BYTES);
}

static bool check_warp_access(const Records *r, const WarpAccess *a)
{
    bool fine = in_launch(r, a->launch) && between(a->step, 0, INT32_MAX) &&
                between(a->line, 0, 1000000) && between(a->space, RECORD_GLOBAL, RECORD_SHARED) &&
                between(a->kind, RECORD_LOAD, RECORD_ATOMIC) && between(a->bytes, 1, 64) &&
                between(a->warp, 0, 31) && between(a->block, 0, INT64_MAX) && a->mask &&
                between(a->passes, 0, 1 << 16) && between(a->least, 0, 1 << 16) &&
                a->requests < MOST_COUNT && a->all_passes < MOST_COUNT &&
                a->all_least < MOST_COUNT &&
                (a->space == RECORD_SHARED ? a->array == -1 : in_array(r, a->array));

    for (int lane = 0; lane < RECORD_LANES; lane++)
        fine = fine &&
               a->address[lane] < (a->space == RECORD_SHARED ? MOST_SHARED_WORDS * RECORD_WORD_BYTES
                                                             : MOST_OFFSET);
    return fine;
}

static bool check_access(const Records *r, int i)
{
    return check_warp_access(r, &r->accesses[i]);
}

static bool check_turn(const Records *r, int i)
{
    return check_warp_access(r, &r->turns[i]);
}

static bool check_thread(const RecordedThread *t)
{
    bool fine = between(t->line, 0, 1000000);

    for (int d = 0; d < 3; d++)
        fine = fine && between(t->block[d], 0, INT32_MAX) && between(t->thread[d], 0, 1023);
    return fine;
}

static bool check_finding(const Records *r, int i)
{
    const RecordedFinding *f = &r->findings[i];

    return is_text(f->word, sizeof f->word) && is_text(f->kernel, sizeof f->kernel) &&
           is_text(f->text, sizeof f->text) && f->count < MOST_COUNT && f->barriers < MOST_COUNT &&
           check_thread(&f->access) && check_thread(&f->other);
}

static bool check_lane_step(const Records *r, int i)
{
    const LaneStep *s = &r->lane_steps[i];

    return in_launch(r, s->launch) && between(s->step, 0, INT32_MAX) &&
           between(s->line, 0, 1000000) && s->active && !(s->executed & ~s->active);
}

static bool check_block_span(const Records *r, int i)
{
    const BlockSpan *b = &r->block_spans[i];

    return in_launch(r, b->launch) && between(b->sm, 0, r->device.sms - 1) &&
           between(b->block, 0, INT64_MAX) && b->begin <= b->end && b->end < MOST_COUNT;
}

static bool check_block_tile(const Records *r, int i)
{
    const BlockTile *t = &r->block_tiles[i];

    return in_launch(r, t->launch) && in_array(r, t->array) && between(t->block, 0, INT64_MAX) &&
           t->first < MOST_OFFSET;
}

static bool check_span(const Records *r, int i)
{
    const Span *s = &r->spans[i];

    return between(s->engine, 0, ENGINES - 1) && between(s->stream, 0, INT32_MAX) &&
           is_number(s->begin_ns) && is_number(s->end_ns) && s->begin_ns <= s->end_ns &&
           is_number(s->bytes) && is_text(s->name, sizeof s->name);
}

static bool check_write(const Records *r, int i)
{
    const ElementWrite *w = &r->writes[i];

    return in_launch(r, w->launch) && in_array(r, w->array) && w->warp < 32 &&
           w->lane < RECORD_LANES && between(w->bytes, 1, 64) && w->offset < MOST_OFFSET;
}

/* ---- All tables ---- */

static bool check_device(const RecordedDevice *d)
{
    return is_text(d->name, sizeof d->name) && between(d->sms, 1, 4096) && is_number(d->sm_mhz) &&
           d->sm_mhz > 0 && is_number(d->fp32_tflops) && is_number(d->memory_gbps);
}

typedef struct Table {
    const char *name;
    int count, most;
    bool (*check)(const Records *, int);
} Table;

static bool check_rows(const Records *r, const Table *table, char *why, size_t size)
{
    for (int i = 0; i < table->count; i++)
        if (!table->check(r, i)) {
            snprintf(why, size, "row %d of the records' %s is invalid", i, table->name);
            return false;
        }
    return true;
}

bool records_check(const Records *r, char *why, size_t size)
{
    const Table tables[] = {
        { "arrays", r->array_count, MOST_ARRAYS, check_array },
        { "launches", r->launch_count, MOST_LAUNCHES, check_launch },
        { "variables", r->variable_count, MOST_VARIABLES, check_variable },
        { "accesses", r->access_count, MOST_ACCESSES, check_access },
        { "lane steps", r->lane_step_count, MOST_LANE_STEPS, check_lane_step },
        { "block spans", r->block_span_count, MOST_BLOCK_SPANS, check_block_span },
        { "block tiles", r->block_tile_count, MOST_BLOCK_TILES, check_block_tile },
        { "spans", r->span_count, MOST_SPANS, check_span },
        { "writes", r->write_count, MOST_WRITES, check_write },
        { "turns", r->turn_count, MOST_TURNS, check_turn },
        { "findings", r->finding_count, MOST_RECORDED_FINDINGS, check_finding },
    };
    const int count = sizeof tables / sizeof *tables;
    bool well = check_device(&r->device);

    if (!well)
        snprintf(why, size, "the records' device is invalid");
    for (int t = 0; t < count && well; t++)
        if (!(well = between(tables[t].count, 0, tables[t].most)))
            snprintf(why, size, "the number of %s in the records is invalid", tables[t].name);
    for (int t = 0; t < count && well;
         t++) /* rows refer to other tables: all counts are known now */
        well = check_rows(r, &tables[t], why, size);
    return well;
}
