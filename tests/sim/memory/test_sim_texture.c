/* test_sim_texture.c - where the texels of CUDA arrays lie, and the numbers of texture objects. */
#include "sim/memory/texture.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

enum { SECTOR = 32 };

static const Texels shapes[] = {
    { .width = 37,
      .height = 21,
      .depth = 3,
      .dimensions = 3,
      .tiled = true,
      .channels = 1,
      .channel_bytes = 4 },
    { .width = 64,
      .height = 8,
      .depth = 1,
      .dimensions = 2,
      .tiled = true,
      .channels = 1,
      .channel_bytes = 1 },
    { .width = 5,
      .height = 1,
      .depth = 1,
      .dimensions = 2,
      .tiled = true,
      .channels = 4,
      .channel_bytes = 4 },
    { .width = 100,
      .height = 1,
      .depth = 7,
      .dimensions = 1,
      .layered = true,
      .channels = 2,
      .channel_bytes = 2,
      .pitch = 400 },
    { .width = 10,
      .height = 9,
      .depth = 1,
      .dimensions = 2,
      .channels = 4,
      .channel_bytes = 1,
      .pitch = 64 },
};

/* Each byte has a place of its own, within the memory that the texels need. */
static void no_two_bytes_share_a_place(void)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const Texels *t = &shapes[i];
        const size_t bytes = texels_bytes(t), row = t->width * texel_bytes(t);
        uint8_t *taken = calloc(bytes, 1);
        size_t wrong = 0;
        for (size_t z = 0; z < t->depth; z++)
            for (size_t y = 0; y < t->height; y++)
                for (size_t x = 0; x < row; x++) {
                    const uint64_t at = texels_address(t, x, y, z);
                    wrong += at >= bytes || taken[at]++;
                }
        CU_ASSERT_EQUAL(wrong, 0);
        free(taken);
    }
}

/* Bytes of a run follow each other, and a run never ends inside a texel. */
static void runs_are_contiguous(void)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const Texels *t = &shapes[i];
        const size_t row = t->width * texel_bytes(t);
        for (size_t x = 0; x < row;) {
            const size_t run = texels_run(t, x, row - x);
            CU_ASSERT_TRUE_FATAL(run > 0 && run <= row - x && run % texel_bytes(t) == 0);
            for (size_t k = 0; k < run; k++)
                CU_ASSERT_EQUAL(texels_address(t, x + k, 0, 0), texels_address(t, x, 0, 0) + k);
            x += run;
        }
    }
}

/* A sector holds 16 bytes of two rows, so a square of texels touches few of them. */
static void a_sector_has_two_rows(void)
{
    const Texels t = shapes[0];

    CU_ASSERT_EQUAL(texels_address(&t, 0, 1, 0) / SECTOR, texels_address(&t, 0, 0, 0) / SECTOR);
    CU_ASSERT_EQUAL(texels_address(&t, 12, 1, 0) / SECTOR, texels_address(&t, 0, 0, 0) / SECTOR);
    CU_ASSERT_NOT_EQUAL(texels_address(&t, 16, 0, 0) / SECTOR,
                        texels_address(&t, 0, 0, 0) / SECTOR);
    CU_ASSERT_NOT_EQUAL(texels_address(&t, 0, 2, 0) / SECTOR, texels_address(&t, 0, 0, 0) / SECTOR);
}

static void sizes_do_not_overflow(void)
{
    Texels t = shapes[0];

    t.width = SIZE_MAX / 4;
    CU_ASSERT_EQUAL(texels_bytes(&t), 0);
    t = shapes[4];
    t.height = SIZE_MAX / 2;
    CU_ASSERT_EQUAL(texels_bytes(&t), 0);
}

/* The number of a destroyed object is never that of a later one. */
static void numbers_are_not_reused(void)
{
    const Texture texture = { .texels = shapes[0] };
    const uint64_t first = texture_add(&texture);
    bool destroyed;

    CU_ASSERT_PTR_NOT_NULL(texture_find(first, &destroyed));
    CU_ASSERT_FALSE(destroyed);
    CU_ASSERT_TRUE(texture_remove(first));
    CU_ASSERT_FALSE(texture_remove(first));
    CU_ASSERT_PTR_NULL(texture_find(first, &destroyed));
    CU_ASSERT_TRUE(destroyed);
    const uint64_t second = texture_add(&texture);
    CU_ASSERT_NOT_EQUAL(first, second);
    CU_ASSERT_PTR_NOT_NULL(texture_find(second, NULL));
    textures_drop();
    CU_ASSERT_PTR_NULL(texture_find(second, &destroyed));
    CU_ASSERT_TRUE(destroyed);
    CU_ASSERT_PTR_NULL(texture_find(0, &destroyed));
    CU_ASSERT_FALSE(destroyed);
    CU_ASSERT_PTR_NULL(texture_find(UINT64_MAX, &destroyed));
    CU_ASSERT_FALSE(destroyed);
}

static CU_TestInfo tests[] = {
    { "no two bytes share a place", no_two_bytes_share_a_place },
    { "runs are contiguous", runs_are_contiguous },
    { "a sector has two rows", a_sector_has_two_rows },
    { "sizes do not overflow", sizes_do_not_overflow },
    { "numbers are not reused", numbers_are_not_reused },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_texture = { "test_sim_texture", NULL, NULL, NULL, NULL, tests };
