/* kept.h - points of rungs on the roofline, kept in build/rungs: a run takes seconds, and its
 * result never changes. */
#ifndef DRAW_KEPT_H
#define DRAW_KEPT_H

#include "draw/collect.h"

/* A point as it was kept. LEFT_OUT: the rung takes too long for a page. */
typedef enum Kept { NOT_KEPT, KEPT, LEFT_OUT } Kept;

/* One file per lab and device. */
typedef struct KeptPoints {
    char path[PATH]; /* "": there is no build folder */
    char *text;      /* the file as it was read; never NULL */
} KeptPoints;

/* The hash of everything that a point depends on: kernel, lab, case, simulator, seed. */
uint64_t kept_key(const CollectJob *job, const char *source);

void kept_open(const CollectJob *job, KeptPoints *kept);
void kept_close(KeptPoints *kept);

/* Fills the point's figures if they are kept. */
Kept kept_find(const KeptPoints *kept, uint64_t key, RooflinePoint *point);
/* Adds a point, or NULL for one that is left out. A failure is not reported: it costs only time. */
void kept_add(const KeptPoints *kept, uint64_t key, const RooflinePoint *point);

#endif
