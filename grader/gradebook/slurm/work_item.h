/* work_item.h - the folder through which a gradebook and the tasks of its Slurm array speak.
 *
 * DIR/slurm/round/ is there while an array is out, and holds
 *     order               a line a kernel to be graded: share, kernel, number of the attempt, lab
 *     name                the array's name in Slurm, by which it is found again
 *     job                 its number, once known (the tasks write it, too)
 *     job.sh              what a task runs
 *     kernels/17.cu       the sources
 *     course.ini          the course file that counted when it was made; perhaps empty
 *     handed/17.1.begun   that attempt has begun: in which task, after how many requeues, where
 *     handed/17.1         and what came of it (gradebook/slurm/result.h)
 *     said/3.txt          what task 3 printed
 * A task grades one share. Nobody changes a file that is there.
 */
#ifndef GRADEBOOK_SLURM_WORK_ITEM_H
#define GRADEBOOK_SLURM_WORK_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WorkItem { /* one attempt at one kernel */
    int share;
    int64_t kernel;
    int number; /* of the attempt */
    int lab;    /* its place in all_labs */
    bool taken; /* its result is in the database, or another round will see to it */
} WorkItem;

typedef struct Batch {
    char folder[512];
    char name[64];
    char job[32]; /* "": not known to have been submitted */
    WorkItem *errands;
    int count, shares;
} Batch;

/* The folder of the round that is out, below that of a gradebook. */
void batch_folder(const char *store, char *folder, size_t size);
bool batch_is_out(const char *store);

/* Sees to DIR/slurm. With `shared`, a folder that all nodes see, it is a link to a new folder
 * there, so that the database may lie on a local disk; what an array is out in stays where it is.
 * False, with a sentence in `problem`. batch_leave removes it again if no round is out. */
bool batch_place(const char *store, const char *shared, char *problem, size_t size);
void batch_leave(const char *store);

/* Reads what is there: order, name, job. False, with a sentence in `problem`. */
bool batch_read(const char *folder, Batch *round, char *problem, size_t size);
bool batch_find_job(Batch *round); /* looks whether the job's number is known by now */
bool batch_write(const Batch *round, const char *name, const char *text); /* a file of it */
void batch_free(Batch *round);

/* The place of a file of an attempt: folder/handed/17.1 and `end`. */
void batch_handed(const Batch *round, const WorkItem *errand, const char *end, char *path,
                  size_t size);

/* Says that an attempt begins here. False with EEXIST in errno if it has begun before; else the
 * machine's fault. */
bool batch_begin(const Batch *round, const WorkItem *errand, const char *who);
bool batch_begun(const Batch *round, const WorkItem *errand, char *who, size_t size);

#endif
