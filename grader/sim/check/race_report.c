/* race_report.c - writes the finding of a race: both accesses, and the missing synchronisation. */
#include "sim/check/race.h"
#include "sim/exec/access_words.h"
#include "sim/exec/uses.h"

#include <stdio.h>
#include <string.h>

#define UPDATE_REMEDY ": if many threads update one word, each needs an atomic such as atomicAdd()"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* thread (4,0,0) */
static void put_thread(const Launch *launch, int thread, char *text, size_t size)
{
    int width = launch->block[0] > 0 ? launch->block[0] : 1;
    int height = launch->block[1] > 0 ? launch->block[1] : 1;

    snprintf(text, size, "thread (%d,%d,%d)", thread % width, thread / width % height,
             thread / width / height);
}

/* block (1,0,0), thread (4,0,0) */
static void put_block_and_thread(const Launch *launch, int64_t block, int thread, char *text,
                                 size_t size)
{
    int64_t width = launch->grid[0] > 0 ? launch->grid[0] : 1;
    int64_t height = launch->grid[1] > 0 ? launch->grid[1] : 1;
    int length =
        snprintf(text, size, "block (%lld,%lld,%lld), ", (long long) (block % width),
                 (long long) (block / width % height), (long long) (block / width / height));

    put_thread(launch, thread, text + length, size - (size_t) length);
}

/* " at line 12"; " at tile.h:12" if that is another file than the current access's; "": unknown. */
static void put_line(const Access *x, Slot slot, char *text, size_t size)
{
    const Step *step = race_step(slot_site(slot));
    const Module *module = x->warp->block->launch->module;
    const int file = step && step->in ? step->in->file : 0;

    *text = '\0';
    if (step && step->in && step->in->line && file > 0 && file < module->file_count &&
        file != x->step->in->file && module->files[file])
        snprintf(text, size, " at %.80s:%d", base_name(module->files[file]), step->in->line);
    else if (step && step->in && step->in->line)
        snprintf(text, size, " at line %d", step->in->line);
    else if (step && step->in)
        snprintf(text, size, " at PTX line %d", step->in->ptx_line);
}

/* Describes the thread of the other access. */
static void put_who(const Access *x, const Conflict *c, char *text, size_t size)
{
    const Launch *launch = x->warp->block->launch;
    const int thread = (int) (c->slot.tag & WHO_THREAD);

    if (c->unrecorded)
        snprintf(text, size, "%s", c->block < 0 ? "other threads" : "other blocks");
    else if (c->block < 0)
        put_thread(launch, thread, text, size);
    else
        put_block_and_thread(launch, c->block, thread, text, size);
}

/* ", which ... read at line 12"; ", where ... wrote another value at line 12" */
static void put_other(const Access *x, const Conflict *c, char *text, size_t size)
{
    char line[120], who[120];
    const Step *step = race_step(slot_site(c->slot));
    const bool atomic = step && step->in && (step->in->op == OP_atom || step->in->op == OP_red);
    const bool wrote = c->other_wrote && !atomic;
    const bool both = wrote && x->kind == ACCESS_STORE && x->value;

    put_line(x, c->slot, line, sizeof line);
    put_who(x, c, who, sizeof who);
    snprintf(text, size, "%s %s %s%s", both ? "where" : "which", who,
             both             ? "wrote another value"
             : wrote          ? "wrote"
             : c->other_wrote ? "updated"
                              : "read",
             line);
}

/* Whether a load in the store's line reads the same place: x++, x += ... */
static bool stores_update(const Access *x)
{
    const Function *f = x->warp->code->function;
    const Instruction *store = x->step->in;

    for (int i = 0; i < f->instruction_count && store->line; i++) {
        const Instruction *in = &f->instructions[i];
        if (in->op == OP_ld && in->line == store->line && in->file == store->file &&
            uses_one_place(f, in, store))
            return true;
    }
    return false;
}

/* A race between lanes of one instruction. */
static void report_in_instruction(const Access *x, const Conflict *c, const char *where)
{
    const int thread = x->warp->number * LANES + c->other_lane;
    const OtherAccess earlier = { x->step, x->warp->block->number, thread };
    char other[64], text[800];

    put_thread(x->warp->block->launch, thread, other, sizeof other);
    snprintf(text, sizeof text, "%s %s in the same instruction as %s%s", access_verb(x), where,
             other,
             stores_update(x) ? UPDATE_REMEDY
             : x->value       ? ", which writes another value"
                              : "");
    warn_of_two(x->warp, x->step, c->lane, FINDING_RACE, &earlier, text);
}

/* Both accesses belong to a read-modify-write statement: x++, x += ... */
static bool is_update(const Access *x, const Conflict *c)
{
    const Step *step = race_step(slot_site(c->slot));
    const Instruction *in = x->step->in, *other = step ? step->in : NULL;
    const Function *f = x->warp->code->function;

    return other && other->line && other->line == in->line && other->file == in->file &&
           uses_one_place(f, c->other_wrote ? in : other, c->other_wrote ? other : in);
}

/* The synchronisation that would order two accesses of one block. */
static const char *remedy(const Access *x, const Conflict *c)
{
    if (is_update(x, c))
        return UPDATE_REMEDY;
    if (!c->one_warp)
        return ", with no __syncthreads() in between";
    return ", with no __syncthreads() in between (between threads of one warp, as here, "
           "__syncwarp() is enough)";
}

/* Whether the other thread has gone through a loop once more: its write stands before the last
 * barrier in the source, and this read after it. */
static bool is_round_ahead(const Access *x, const Conflict *c)
{
    const Step *step = race_step(slot_site(c->slot)), *barrier = x->warp->block->last_barrier;
    const Instruction *in = x->step->in, *other = step ? step->in : NULL;

    return barrier && other && c->other_wrote && !c->unrecorded && x->kind == ACCESS_LOAD &&
           in->file == other->file && in->file == barrier->in->file &&
           other->line < barrier->in->line && barrier->in->line < in->line;
}

/* The earlier access, as far as it is known. */
static OtherAccess other_of(const Access *x, const Conflict *c)
{
    const int64_t block = c->unrecorded || c->block == SOMEWHERE ? -1
                          : c->block < 0                         ? x->warp->block->number
                                                                 : c->block;

    return (OtherAccess){ .step = race_step(slot_site(c->slot)),
                          .block = block,
                          .thread = (int) (c->slot.tag & WHO_THREAD),
                          .one_warp = c->one_warp && !is_update(x, c) };
}

static void report_round_ahead(const Access *x, const Conflict *c, const char *where)
{
    const OtherAccess earlier = other_of(x, c);
    char line[120], who[120], text[800];

    put_line(x, c->slot, line, sizeof line);
    put_who(x, c, who, sizeof who);
    snprintf(text, sizeof text,
             "%s %s, but %s is a round ahead and has written it again%s: no __syncthreads() "
             "separates this read from the next write",
             access_verb(x), where, who, line);
    warn_of_two(x->warp, x->step, c->lane, FINDING_RACE, &earlier, text);
}

static void report_pair(const Access *x, const Conflict *c, const char *where)
{
    const bool in_block = c->block < 0;
    const char *remedied = in_block || is_update(x, c)
                               ? remedy(x, c)
                               : ": blocks of one launch run in any order, so the two need "
                                 "separate launches. A word that "
                                 "blocks exchange within a launch is volatile or atomic, and "
                                 "__threadfence() orders it "
                                 "with other data";
    const OtherAccess earlier = other_of(x, c);
    char other[300], text[900];

    if (c->one_instruction) {
        report_in_instruction(x, c, where);
        return;
    }
    if (in_block && is_round_ahead(x, c)) {
        report_round_ahead(x, c, where);
        return;
    }
    put_other(x, c, other, sizeof other);
    snprintf(text, sizeof text, "%s %s, %s%s", access_verb(x), where, other, remedied);
    warn_of_two(x->warp, x->step, c->lane, in_block ? FINDING_RACE : FINDING_RACE_BLOCKS, &earlier,
                text);
}

void race_report(const Access *x, const Conflict *c)
{
    char where[400];

    access_words(x, c->lane, where, sizeof where);
    report_pair(x, c, where);
}
