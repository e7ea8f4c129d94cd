/* rounds.c - the rounds of a loop that ptxas unrolled.
 *
 * PTX executes a round after the other, in the same registers. The machine code has copies of the
 * loop's body, each with registers of its own, and mixes them: loads of all copies may be in flight
 * together. So a stretch may have several rounds, whose steps then have the places of their copies
 * and registers as if PTX, too, had unrolled the loop.
 */
#include "sim/time/model.h"

#include <stdlib.h>

/* ---- Places ---- */

/* Of n instructions for all rounds, those of this round come first. */
static int first_of(const Planned *step, int round, int rounds)
{
    return round * step->operation->place_count / rounds;
}

/* If there are fewer instructions than rounds, a load is merged with that of an earlier round, and
 * a computation or branch with that of a later one. */
static void place(Planned *step, int rounds, const int *places)
{
    const Operation *o = step->operation;
    const int round = step->round, count = o->place_count;
    const bool loads = o->action == DO_ACCESS && o->writes, first = loads && count < rounds;
    const int at = first_of(step, round, rounds);
    const bool is_whole = o->action != DO_COMPUTE && o->action != DO_BRANCH && !loads;

    if (o->action == NO_INSTRUCTION || o->action == DO_STACK)
        return;
    step->issue = ISSUED;
    if (o->action == DO_BRANCH && count < rounds)
        step->issue = round == rounds - 1 ? ISSUED : NOT_ISSUED;
    else if (first)
        step->issue = round && first_of(step, round - 1, rounds) == at ? NOT_ISSUED : ISSUED;
    else if (!is_whole && count < rounds)
        step->issue = first_of(step, round + 1, rounds) == at ? NOT_ISSUED : ISSUED;
    if (count)
        step->place = places[o->first_place + (at < count ? at : count - 1)];
}

/* ---- Registers ---- */

typedef struct Renamer {
    uint32_t *now;    /* by register: where its value is */
    uint32_t *merged; /* by register: the result of the last load that was issued */
    uint32_t next;
    int last_round;
} Renamer;

static bool has(const uint32_t *names, int count, uint32_t name)
{
    for (int i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

static uint32_t highest(const Planned *steps, int count)
{
    uint32_t most = 0;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < steps[i].operation->reads + steps[i].operation->writes; k++)
            most = steps[i].registers[k] > most ? steps[i].registers[k] : most;
    return most;
}

/* In the last round the results are where the code after the loop expects them. What a guard has
 * turned off does not change its registers. */
static uint32_t place_for(Renamer *renamer, const Planned *step, uint32_t name)
{
    if (step->skipped)
        return renamer->now[name];
    return renamer->now[name] = step->round == renamer->last_round ? name : renamer->next++;
}

/* Whether ptxas adds only once to a pointer or counter for several rounds, whose loads then use it
 * with offsets of their own. The addition may still have several instructions. */
static bool is_merged_addition(const Renamer *renamer, const Planned *step)
{
    const Operation *o = step->operation;

    return o->action == DO_COMPUTE && o->place_count <= renamer->last_round && o->reads &&
           o->writes == 1 && !step->skipped && step->round < renamer->last_round &&
           has(step->registers, o->reads, step->registers[o->reads]);
}

/* A load that is merged with an earlier one is ready when that one is. */
static void rename_step(Renamer *renamer, Planned *step, uint32_t *to)
{
    const Operation *o = step->operation;
    const uint32_t *names = step->registers;
    const bool is_merged = o->action == DO_ACCESS && step->issue == NOT_ISSUED && o->writes;

    for (int i = 0; i < o->reads; i++)
        to[i] = is_merged ? renamer->merged[names[o->reads]] : renamer->now[names[i]];
    for (int i = o->reads; i < o->reads + o->writes; i++)
        to[i] = is_merged_addition(renamer, step) ? renamer->next++
                                                  : place_for(renamer, step, names[i]);
    if (!is_merged && o->writes)
        renamer->merged[names[o->reads]] = to[o->reads];
    step->registers = to;
}

uint32_t *rounds_unroll(Planned *steps, int count, int rounds, const int *places, uint32_t spare)
{
    const size_t names = highest(steps, count) + 1;
    Renamer renamer = { .now = malloc(names * sizeof *renamer.now),
                        .merged = malloc(names * sizeof *renamer.merged),
                        .next = spare,
                        .last_round = rounds - 1 };
    uint32_t *registers = NULL;
    size_t all = 1, at = 0;

    for (int i = 0; i < count; i++)
        all += (size_t) steps[i].operation->reads + steps[i].operation->writes;
    if (renamer.now && renamer.merged)
        registers = malloc(all * sizeof *registers);
    for (size_t i = 0; registers && i < names; i++)
        renamer.now[i] = renamer.merged[i] = (uint32_t) i;
    for (int i = 0; registers && i < count; i++) {
        place(&steps[i], rounds, places);
        rename_step(&renamer, &steps[i], registers + at);
        at += (size_t) steps[i].operation->reads + steps[i].operation->writes;
    }
    free(renamer.now);
    free(renamer.merged);
    return registers;
}
