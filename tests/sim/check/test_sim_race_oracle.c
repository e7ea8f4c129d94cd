/* test_sim_race_oracle.c - races in long random scripts, compared with an oracle. */
#include "sim/sim_world.h"

/* ---- The oracle keeps every access and compares all pairs ----
 *
 * Two warps of consecutive blocks use 160 words in patterns that take each of the fast paths: whole
 * lines, unaligned runs, 4, 8 and 16 bytes per lane, parts of a warp, reversed and broadcast lanes.
 * Each write stores a different value. */

enum { RACE_WORDS = 160, MOST_USES = 1 << 13 };

typedef struct Use {
    int word, thread, block, epoch, syncs; /* epoch, syncs: number of earlier (warp) barriers */
    bool writes, is_atomic;
} Use;

static struct {
    Use uses[MOST_USES];
    int count, block, epoch, syncs[WARPS];
} o;

static const struct RacePattern {
    int first, stride, words, div; /* lane i: first + i / div * stride words, `words` of them */
    uint32_t mask;
} race_patterns[] = {
    { 0, 1, 1, 1, ALL },      { 32, 1, 1, 1, ALL },       { 64, 1, 1, 1, ALL },
    { 5, 1, 1, 1, ALL },      { 0, 2, 2, 1, ALL },        { 64, 2, 2, 1, ALL },
    { 0, 4, 4, 1, ALL },      { 4, 4, 4, 1, ALL },        { 0, 1, 1, 1, 0xffff },
    { 16, 1, 1, 1, 0xf0f0 },  { 127, -1, 1, 1, ALL },     { 3, 0, 1, 1, 1 },
    { 40, 0, 1, 1, 1u << 7 }, { 0, 4, 1, 1, ALL },        { 3, 5, 1, 1, ALL },
    { 96, 2, 2, 1, 0xff },    { 127, 0, 1, 1, 1u << 31 },
};
static const struct RacePattern read_patterns[] = { { 3, 0, 1, 1, ALL }, { 0, 4, 4, 16, ALL } };

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static bool is_ordered(const Use *a, const Use *b)
{
    if (a->block != b->block)
        return false;
    if (a->epoch != b->epoch || a->thread == b->thread)
        return true;
    return a->thread / LANES == b->thread / LANES && a->syncs != b->syncs;
}

/* Adds an access. Returns whether it races with an earlier one. */
static bool oracle_use(Use use)
{
    bool races = false;

    for (int i = 0; i < o.count; i++) {
        const Use *other = &o.uses[i];
        races |= other->word == use.word && (other->writes || use.writes) &&
                 !(other->is_atomic && use.is_atomic) && !is_ordered(other, &use);
    }
    if (o.count < MOST_USES)
        o.uses[o.count++] = use;
    return races;
}

static Step *race_step_for(Space space, char what, int words)
{
    if (what == 'a')
        return atomic(space, TYPE_U32, MOD_add);
    return what == 'w' ? store(space, TYPE_U32, words) : load(space, TYPE_U32, words);
}

/* The oracle's answer. Lanes of one instruction do not conflict in these patterns. */
static bool act_as(Space space, int warp, char what, const struct RacePattern *p)
{
    static uint32_t value;
    Step *step = race_step_for(space, what, p->words);
    bool races = false;

    for (int i = 0; i < LANES; i++) {
        int word = p->first + i / p->div * p->stride;
        wide(warp, ADDRESS)[i] =
            (space == SPACE_GLOBAL ? w.array->base : 0) + (uint64_t) (int64_t) word * 4;
        for (int e = 0; e < p->words; e++)
            narrow(warp, VALUE + 2 * e)[i] = ++value;
        for (int e = 0; p->mask >> i & 1 && e < p->words; e++)
            races |= oracle_use((Use){ word + e, warp * LANES + i, o.block, o.epoch, o.syncs[warp],
                                       what != 'r', what == 'a' });
    }
    run(warp, step, p->mask);
    return races;
}

static bool act_at_random(Space space, uint64_t *seed)
{
    int warp = (int) (random_number(seed) % WARPS);
    unsigned which = (unsigned) (random_number(seed) % 100);

    w.step_count = w.step_count > STEPS - 4 ? 0 : w.step_count;
    if (which < 22) {
        w.block.epoch++;
        o.epoch++;
    } else if (which < 30) {
        race_warp_sync(&w.warps[warp], ALL);
        o.syncs[warp]++;
    } else if (which < 33) {
        go_to_block(++o.block);
        o.count = space == SPACE_SHARED ? 0 : o.count;
        o.epoch = 0;
    } else if (which < 40) {
        return act_as(space, warp, 'r', &read_patterns[random_number(seed) % COUNT(read_patterns)]);
    } else {
        const struct RacePattern *p = &race_patterns[random_number(seed) % COUNT(race_patterns)];
        char what = p->words == 1 && which < 44 ? 'a' : which < 72 ? 'w' : 'r';
        return act_as(space, warp, what, p);
    }
    return false;
}

/* Runs up to the first race, which must be reported at that access and not earlier. */
static bool races_as_the_oracle_says(Space space, uint64_t seed)
{
    bool races = false;

    new_world(true, false);
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 24 && !races; i++) {
        races = act_at_random(space, &seed);
        CU_ASSERT_EQUAL(finding_count() > 0, races);
        if ((finding_count() > 0) != races) {
            printf("act %d: %s, oracle: %d\n", i, told(0), races);
            races = true;
        }
    }
    end_world();
    return races;
}

static void races_like_the_oracle(void)
{
    uint64_t seed = 88172645463325252ull;
    int races = 0;
    enum { SCRIPTS = 4000 };

    for (int i = 0; i < SCRIPTS; i++)
        races +=
            races_as_the_oracle_says(i % 2 ? SPACE_GLOBAL : SPACE_SHARED, random_number(&seed));
    CU_ASSERT(races > SCRIPTS / 4 && races < SCRIPTS); /* both answers occur */
}

/* Several lanes of one instruction use one address. */
static void several_lanes_at_once(void)
{
    static const struct {
        bool differ;
        const char *text;
    } rows[] = {
        { true,
          "writes 4 bytes of shared memory at 0 in the same instruction as thread (1,0,0), which "
          "writes another value" },
        { false, NULL },
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(true, false);
        Step *step = store(SPACE_SHARED, TYPE_U32, 1);
        set_linear(0, ADDRESS, 0, 0);
        for (int i = 0; i < LANES; i++)
            narrow(0, VALUE)[i] = rows[r].differ ? (unsigned) i : 1;
        run(0, step, ALL);
        CU_ASSERT_EQUAL(finding_count(), rows[r].differ);
        if (rows[r].differ)
            CU_ASSERT_STRING_EQUAL(told(0), rows[r].text);
        CU_ASSERT_EQUAL(*(uint32_t *) w.shared, rows[r].differ ? 31 : 1);
        end_world();
    }
}

static CU_TestInfo tests[] = {
    { "races like the oracle", races_like_the_oracle },
    { "several lanes at once", several_lanes_at_once },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_race_oracle = { "test_sim_race_oracle", NULL, NULL, NULL, NULL, tests };
