/* cause.h - causes of slowness that the modelled time can leave out, to bound what removing them is
 * worth ("what if"; docs/simulator-time.md).
 */
#ifndef SIM_BASE_CAUSE_H
#define SIM_BASE_CAUSE_H

#include <stdbool.h>

/* One row per cause: enumerator, key, words after "without". */
#define CAUSE_ROWS(X)                                                                              \
    X(CAUSE_CONFLICTS, "conflicts", "bank conflicts")                                              \
    X(CAUSE_SECTORS, "sectors", "extra sectors")                                                   \
    X(CAUSE_DIVERGENCE, "divergence", "idle lanes")                                                \
    X(CAUSE_LATENCY, "latency", "exposed latency")                                                 \
    X(CAUSE_TAIL, "tail", "the tail")                                                              \
    X(CAUSE_OCCUPANCY, "occupancy", "the occupancy limit")

#define CAUSE_ENUM(name, key, words) name,
typedef enum Cause { CAUSE_ROWS(CAUSE_ENUM) CAUSES } Cause;
#undef CAUSE_ENUM

extern const char *const cause_keys[CAUSES], *const cause_words[CAUSES];

/* A set of causes: bit `cause` is 1. */
typedef unsigned CauseSet;

static inline bool has_cause(CauseSet set, Cause cause)
{
    return set >> cause & 1;
}

/* Reads "conflicts" or "divergence,tail". Returns false if a word is not a key. */
bool causes_read(const char *text, CauseSet *set);

#endif
