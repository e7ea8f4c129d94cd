/* queue.h - the kernels still to be graded, computed from the database. */
#ifndef GRADEBOOK_STORE_QUEUE_H
#define GRADEBOOK_STORE_QUEUE_H

#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

enum { MOST_ERRORS = 3 }; /* machine errors per request before a kernel is given up */

int lab_index(const char *folder); /* in all_labs; -1: unknown */

typedef struct Task {
    int64_t kernel;
    int lab;    /* index in all_labs */
    int number; /* of the next attempt, from 1 */
    bool graded;
    int errors_left;    /* machine errors left */
    char failed_on[64]; /* the device of the last error; or "" */
    bool running;
    bool built; /* in advance */
} Task;

/* An attempt at a kernel, as a Slurm task gets it: "17.1" is the first attempt at kernel 17. */
typedef struct KernelAttempt {
    int64_t kernel;
    int number;
} KernelAttempt;

typedef struct KernelList {
    KernelAttempt *list;
    int count;
} KernelList;

/* Parses "17.1,18.3" into an empty list, which the caller frees. Returns false if it is invalid. */
bool kernels_parse(const char *text, KernelList *kernels);

/* Adds the sources FOLDER/17.cu of a lab to an empty gradebook, under these numbers. Returns false
 * and sets `problem` if a source cannot be read. */
bool kernels_import(Store *store, const char *folder, int lab, const KernelList *kernels,
                    char *problem, size_t size);

typedef struct Queue {
    Task *tasks;
    int count;
} Queue;

/* Reads the counted kernels of the requested labs that are neither graded nor given up. If
 * `only_wanted`, reads only those that this run requested (requests.h). */
void queue_read(Store *store, const bool requested[LABS], bool only_wanted, Queue *queue);

/* Fills the queue with these kernels, one attempt each. */
void queue_of_list(const KernelList *kernels, int lab, Queue *queue);
void queue_free(Queue *queue);

/* Requests another grading of kernels graded under another lab_hash. Returns their number. */
int queue_request_changed(Store *store, const char *lab, uint64_t hash);

/* Requests a full grading of kernels whose latest one was quick. Returns their number. */
int queue_request_quick(Store *store, const char *lab);
bool task_open(const Task *task); /* not graded and not given up */

/* The state of the gradebook for the requested labs. */
typedef struct QueueCounts {
    int students, parts, unreadable, missing; /* their sum, without students: students x labs */
    int kernels, graded, given_up, open;
} QueueCounts;
void queue_count(Store *store, QueueCounts *counts);

/* SQL: 1 if the kernel of a row of `progress` (as p) is given up / still open. */
#define SQL_GIVEN_UP "(p.graded = 0 AND p.faults >= 3)"
#define SQL_OPEN     "(p.graded = 0 AND p.faults < 3)"

#endif
