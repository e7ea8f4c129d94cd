/* answers.h - times that an SM does not know yet, because the L2 has not been asked yet.
 *
 * SMs that play on several threads cannot ask the L2 one after another. So each SM lists its
 * requests and plays on to the end of its turn, which comes before any answer could arrive. Until
 * then a number stands for the time of an answer. After the turn, the requests are made in the same
 * order as if the SMs had been played one after another (answers_ask), and times replace the
 * numbers (answers_settle). So times are the same on any number of threads.
 */
#ifndef SIM_TIME_ANSWERS_H
#define SIM_TIME_ANSWERS_H

#include "sim/base/common.h"
#include "sim/exec/trace.h"
#include "sim/machine/operations.h"

/* Such numbers are at least this, and less than NEVER. */
#define UNKNOWN (1ull << 60)

struct PlayedWarp;
struct Sm;

/* When a register is ready, and the operation that writes it (NULL: none yet). */
typedef struct Value {
    uint64_t ready;
    const Operation *maker;
} Value;

#define NO_ANSWER UINT32_MAX /* nothing waits for it */

typedef struct Request {
    TraceKind kind;
    uint32_t number;   /* of its answer, or NO_ANSWER */
    uint64_t word, at; /* as for memory_load and others */
} Request;

/* The latest of three times, of which two may be unknown, too. */
typedef struct Answer {
    uint64_t at, others[2];
    const Operation *maker, *makers[2]; /* of a value: whose operation is the latest; or NULL */
} Answer;

typedef struct Answers {
    bool on; /* requests are listed, not made at once */
    Request *requests;
    Answer *answers;
    uint64_t **times; /* where unknown times are */
    Value **values;
    struct PlayedWarp **warps;
    int request_count, answer_count, time_count, value_count, warp_count;
    int request_room, answer_room, time_room, value_room, warp_room;
} Answers;

static inline bool is_unknown(uint64_t at)
{
    return at >> 60 == 1;
}

/* The SM makes a request. Returns when its answer arrives, but not before `least`. */
uint64_t answers_request(struct Sm *sm, TraceKind kind, uint64_t word, uint64_t at, uint64_t least);
/* A twin makes a request, for whose answer nothing waits; `lists`: as the SM does that it repeats.
 */
void answers_repeat(struct Sm *twin, bool lists, TraceKind kind, uint64_t word, uint64_t at);
/* There is an unknown time: at this place; in this value; in a time of this warp. */
void answers_note(struct Sm *sm, uint64_t *time);
void answers_note_value(struct Sm *sm, Value *value);
void answers_note_warp(struct Sm *sm, struct PlayedWarp *w);
/* The later of two times, of two values, of which one may be unknown. In a tie the second. */
uint64_t answers_later(struct Sm *sm, uint64_t a, uint64_t b);
Value answers_later_value(struct Sm *sm, Value a, Value b);
/* All SMs' requests of a turn, in order of their times. */
typedef struct Asked {
    struct Sm *sm;
    const Request *request;
} Asked;

typedef struct AskedList {
    Asked *items;
    int room;
} AskedList;

/* Makes the requests that the SMs have listed in a turn that began at cycle `from`; those of one
 * cycle SM by SM. Returns false if out of memory. */
bool answers_ask(AskedList *list, struct Sm *sms, int count, uint64_t from);
/* Then: replaces all unknown times. */
void answers_settle(struct Sm *sm);
/* Forgets all requests and unknown times: those of a launch that failed are in freed memory. */
void answers_forget(struct Sm *sm);
void answers_free(Answers *answers);

/* The later of two times. */
static inline uint64_t time_later(struct Sm *sm, uint64_t a, uint64_t b)
{
    return is_unknown(a) || is_unknown(b) ? answers_later(sm, a, b) : later(a, b);
}

#endif
