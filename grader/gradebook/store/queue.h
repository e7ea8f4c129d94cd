/* queue.h - what is still to be graded, worked out from the database. */
#ifndef GRADEBOOK_STORE_QUEUE_H
#define GRADEBOOK_STORE_QUEUE_H

#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

enum { FAULTS = 3 }; /* the machine may fail a kernel so often a wish, then it is listed */

typedef struct Task {
    int64_t kernel;
    int lab;    /* its place in all_labs */
    int number; /* of the next attempt, from 1 */
    bool graded;
    int faults_left;    /* of the machine */
    char failed_on[64]; /* the device of the last one; "" */
    bool running;
    bool built; /* ahead of its grading */
} Task;

typedef struct Queue {
    Task *tasks;
    int count;
} Queue;

/* Kernels that count for somebody, of the labs asked for, that lack a grading and may have one.
 * `only`: that kernel alone; 0: all. */
void queue_read(Store *store, const bool asked[LABS], int64_t only, Queue *queue);
void queue_free(Queue *queue);

/* Wishes for one more grading of kernels that were graded when the lab had another hash
 * (lab_hash); how many. */
int queue_request_changed(Store *store, const char *lab, uint64_t hash);
bool task_open(const Task *task); /* still to do, and not given up */

/* How the gradebook stands, over labs asked for. */
typedef struct Tally {
    int students, parts, missing; /* of students times labs: handed in, not there */
    int kernels, graded, given_up, open;
} Tally;
void queue_tally(Store *store, Tally *tally);

/* SQL: 1 if the kernel of a row of `progress` (as p) is given up / still open. */
#define SQL_GIVEN_UP "(p.graded = 0 AND p.faults >= 3)"
#define SQL_OPEN     "(p.graded = 0 AND p.faults < 3)"

#endif
