/* l2.h - what the L2 holds between launches.
 *
 * A launch that repeats an earlier one is not played, so the model's cache may lag behind: the L2
 * then holds what it held after the earlier launch, and what copies have written since. It gets
 * there before the next launch is played.
 */
#ifndef SIM_TIME_L2_H
#define SIM_TIME_L2_H

#include "sim/time/digest.h"
#include "sim/time/model.h"

/* What the L2 has held once. */
typedef struct L2Contents {
    int users;
    Digest digest;
    uint64_t *packed; /* NULL: only while the model's cache holds it */
    size_t words;
} L2Contents;

bool l2_open(Gpu *gpu);
void l2_close(Gpu *gpu);
/* What it holds now. Returns false if out of memory. */
bool l2_digest(Gpu *gpu, Digest *digest);
/* A launch is to be played: the model's cache gets what the L2 holds. */
void l2_play(Gpu *gpu);
/* A launch has been played; it began with `before`. Sets *after to what it left, NULL if that is
 * the same, for the caller to release. Returns false if out of memory. */
bool l2_played(Gpu *gpu, Digest before, L2Contents **after);
/* From now on it holds this. */
void l2_set(Gpu *gpu, L2Contents *contents);
L2Contents *l2_use(L2Contents *contents);
void l2_release(L2Contents *contents); /* may be NULL */

#endif
