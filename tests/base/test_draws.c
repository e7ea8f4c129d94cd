/* test_draws.c - draws that were seen reveal nothing about others. */
#include "base/random.h"
#include "fill.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

/* The eight-byte vector of the reference implementation: key 00 01 .. 0f, message 00 01 .. 07. */
static void the_hash_is_siphash(void)
{
    const uint64_t key[2] = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };

    CU_ASSERT_EQUAL(keyed_hash(key, 0x0706050403020100ull), 0x93f5f5799a932462ull);
}

static void the_same_seed_draws_the_same(void)
{
    Draws a = draws_begin(7, "06_transpose", NULL), b = draws_begin(7, "06_transpose", NULL);
    Draws other_lab = draws_begin(7, "07_reduction", NULL),
          other_seed = draws_begin(8, "06_transpose", NULL);

    for (int i = 0; i < 100; i++) {
        uint64_t drawn = draw(&a, DRAW_CONTENTS);
        CU_ASSERT_EQUAL(drawn, draw(&b, DRAW_CONTENTS));
        CU_ASSERT_NOT_EQUAL(drawn, draw(&other_lab, DRAW_CONTENTS));
        CU_ASSERT_NOT_EQUAL(drawn, draw(&other_seed, DRAW_CONTENTS));
    }
}

/* A kernel that prints its inputs has another text when it is resubmitted with that knowledge. */
static void another_text_draws_others(void)
{
    static const char *const texts[] = { NULL, "", "a", "abcdefg", "abcdefgh", "abcdefghi" };
    uint64_t drawn[sizeof texts / sizeof *texts];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Draws draws = draws_begin(7, "x", texts[i]);
        drawn[i] = draw(&draws, DRAW_CONTENTS);
        for (size_t k = 0; k < i; k++)
            CU_ASSERT_NOT_EQUAL(drawn[i], drawn[k]);
    }
}

/* With a course's seed, all gradings of a text get the same inputs, but different places are
 * compared. */
static void hidden_draws_do_not_repeat(void)
{
    Draws a = draws_begin(7, "x", "k"), b = draws_begin(7, "x", "k");

    CU_ASSERT_EQUAL(draw(&a, DRAW_PLACES), draw(&b, DRAW_PLACES));
    draws_hide(&b);
    CU_ASSERT_NOT_EQUAL(draw(&a, DRAW_PLACES), draw(&b, DRAW_PLACES));
    CU_ASSERT_NOT_EQUAL(draw(&a, DRAW_ORDER), draw(&b, DRAW_ORDER));
    CU_ASSERT_EQUAL(draw(&a, DRAW_CONTENTS), draw(&b, DRAW_CONTENTS));
}

/* The number of compared places must not change the next draws. */
static void purposes_do_not_disturb_each_other(void)
{
    Draws a = draws_begin(7, "x", NULL), b = draws_begin(7, "x", NULL);

    for (int i = 0; i < 50; i++)
        draw(&a, DRAW_PLACES);
    CU_ASSERT_EQUAL(draw(&a, DRAW_CONTENTS), draw(&b, DRAW_CONTENTS));
    CU_ASSERT_NOT_EQUAL(draw(&b, DRAW_ORDER), draw(&b, DRAW_PLACES));
}

/* All draws were once a single chain of splitmix64, whose output reveals its state: a kernel that
 * found the seed of its own inputs knew every later input and every place that would be
 * compared. */
static uint64_t undo_shift(uint64_t x, int shift)
{
    uint64_t y = x;

    for (int done = shift; done < 64; done += shift)
        y = x ^ y >> shift;
    return y;
}

static uint64_t splitmix_state(uint64_t output)
{
    uint64_t z = undo_shift(output, 31);

    z = undo_shift(z * 0x319642b2d24d8ec3ull, 27);
    return undo_shift(z * 0x96de1b173f119089ull, 30);
}

static void the_attack_on_splitmix_works_on_splitmix(void)
{
    uint64_t state = 12345, output = next_random(&state), found = splitmix_state(output);

    CU_ASSERT_EQUAL(found, state);
    CU_ASSERT_EQUAL(next_random(&found), next_random(&state));
}

static void one_draw_does_not_give_the_next(void)
{
    Draws draws = draws_begin(secret(), "05_streams", NULL);

    for (int i = 0; i < 1000; i++) {
        uint64_t state = splitmix_state(draw(&draws, DRAW_CONTENTS));
        uint64_t foretold = next_random(&state);
        CU_ASSERT_NOT_EQUAL(foretold, draw(&draws, DRAW_CONTENTS));
        CU_ASSERT_NOT_EQUAL(foretold, draw(&draws, DRAW_PLACES));
    }
}

/* An attacker who learns the seed of a set, in spite of fill.h's hash, learns no other seed from
 * it. */
static void a_set_does_not_give_its_neighbour(void)
{
    Draws draws = draws_begin(secret(), "05_streams", NULL);

    for (int i = 0; i < 1000; i++) {
        uint64_t sample = draw(&draws, DRAW_CONTENTS), set = set_seed(sample, 0);
        CU_ASSERT_NOT_EQUAL(set, sample);
        CU_ASSERT_NOT_EQUAL(set_seed(set, 0), set_seed(sample, 1));
        CU_ASSERT_NOT_EQUAL(set + 0x9e3779b97f4a7c15ull, set_seed(sample, 1));
    }
}

/* Each bit of a draw is 1 half of the time, whatever that bit was in the draw before. */
static void bits_are_even(void)
{
    enum { COUNT = 20000 };
    Draws draws = draws_begin(3, "y", NULL);
    uint64_t last = draw(&draws, DRAW_CONTENTS);
    int ones[64] = { 0 }, changes[64] = { 0 };

    for (int i = 0; i < COUNT; i++) {
        uint64_t next = draw(&draws, DRAW_CONTENTS);
        for (int bit = 0; bit < 64; bit++) {
            ones[bit] += next >> bit & 1;
            changes[bit] += (next ^ last) >> bit & 1;
        }
        last = next;
    }
    for (int bit = 0; bit < 64; bit++) {
        CU_ASSERT(fabs(ones[bit] - COUNT / 2.0) < 5 * sqrt(COUNT / 4.0));
        CU_ASSERT(fabs(changes[bit] - COUNT / 2.0) < 5 * sqrt(COUNT / 4.0));
    }
}

CU_SuiteInfo test_draws = {
    "draws",
    .pTests =
        (CU_TestInfo[]){
            { "the hash is SipHash", the_hash_is_siphash },
            { "the same seed draws the same", the_same_seed_draws_the_same },
            { "another text draws others", another_text_draws_others },
            { "hidden draws do not repeat", hidden_draws_do_not_repeat },
            { "purposes do not disturb each other", purposes_do_not_disturb_each_other },
            { "the attack on splitmix works on splitmix",
              the_attack_on_splitmix_works_on_splitmix },
            { "one draw does not give the next", one_draw_does_not_give_the_next },
            { "a set does not give its neighbour", a_set_does_not_give_its_neighbour },
            { "bits are even", bits_are_even },
            CU_TEST_INFO_NULL,
        },
};
