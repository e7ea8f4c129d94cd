/* queue.h - the kernels still to be graded, computed from the database. */
#ifndef GRADEBOOK_STORE_QUEUE_H
#define GRADEBOOK_STORE_QUEUE_H

#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

enum { FAULTS = 3 }; /* machine errors per request before a kernel is given up */

typedef struct Task {
    int64_t kernel;
    int lab;    /* index in all_labs */
    int number; /* of the next attempt, from 1 */
    bool graded;
    int faults_left;    /* machine errors left */
    char failed_on[64]; /* the device of the last error; or "" */
    bool running;
    bool built; /* in advance */
} Task;

typedef struct Queue {
    Task *tasks;
    int count;
} Queue;

/* Counted kernels of the requested labs that are not graded and not given up. `only`: only that
 * kernel; 0: all. */
void queue_read(Store *store, const bool asked[LABS], int64_t only, Queue *queue);
void queue_free(Queue *queue);

/* Requests another grading of kernels graded under another lab_hash. Returns their number. */
int queue_request_changed(Store *store, const char *lab, uint64_t hash);
bool task_open(const Task *task); /* not graded and not given up */

/* The state of the gradebook, over requested labs. */
typedef struct Tally {
    int students, parts, missing; /* parts and missing: of students times labs */
    int kernels, graded, given_up, open;
} Tally;
void queue_tally(Store *store, Tally *tally);

/* SQL: 1 if the kernel of a row of `progress` (as p) is given up / still open. */
#define SQL_GIVEN_UP "(p.graded = 0 AND p.faults >= 3)"
#define SQL_OPEN     "(p.graded = 0 AND p.faults < 3)"

#endif
