/* queue.c - the kernels still to be graded, computed from the database. */
#include "gradebook/store/queue.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MOST_ERRORS == 3, "SQL_GIVEN_UP and SQL_OPEN say 3");

int lab_index(const char *lab)
{
    for (int i = 0; i < LABS && all_labs[i].folder; i++)
        if (!strcmp(lab, all_labs[i].folder))
            return i;
    return -1;
}

void queue_read(Store *store, const bool requested[LABS], bool only_wanted, Queue *queue)
{
    int capacity = (int) store_number(store, 0, "SELECT count(*) FROM kernels", "");
    char sql[900];
    sqlite3_stmt *rows;

    people_match(store);
    PUT(sql,
        "SELECT p.kernel, p.lab, p.faults, p.attempts,"
        "  (SELECT a.device FROM attempts a WHERE a.kernel = p.kernel AND a.outcome <> 'graded'"
        "   ORDER BY a.id DESC LIMIT 1)"
        " FROM progress p"
        " WHERE " SQL_OPEN
        " AND p.kernel IN (SELECT kernel FROM temp.handed_in) %s ORDER BY p.kernel",
        only_wanted ? "AND p.kernel IN (SELECT kernel FROM temp.wanted)" : "");
    rows = store_ask(store, sql, "");
    *queue = (Queue){ .tasks = xcalloc((size_t) capacity, sizeof(Task)) };
    while (store_row(store, rows)) {
        Task task = { .kernel = sqlite3_column_int64(rows, 0),
                      .lab = lab_index(store_text(rows, 1)) };
        task.errors_left = MOST_ERRORS - sqlite3_column_int(rows, 2);
        task.number = sqlite3_column_int(rows, 3) + 1;
        PUT(task.failed_on, "%s", store_text(rows, 4));
        if (task.lab >= 0 && requested[task.lab] && queue->count < capacity)
            queue->tasks[queue->count++] = task;
    }
}

void queue_of_list(const KernelList *kernels, int lab, Queue *queue)
{
    *queue =
        (Queue){ .tasks = xcalloc((size_t) kernels->count, sizeof(Task)), .count = kernels->count };
    for (int i = 0; i < kernels->count; i++)
        queue->tasks[i] = (Task){ .kernel = kernels->list[i].kernel,
                                  .number = kernels->list[i].number,
                                  .lab = lab,
                                  .errors_left = 1 };
}

void queue_free(Queue *queue)
{
    free(queue->tasks);
    *queue = (Queue){ 0 };
}

/* ---- Listed kernels ---- */

bool kernels_parse(const char *text, KernelList *kernels)
{
    int capacity = 1;

    for (const char *at = text; (at = strchr(at, ',')); at++)
        capacity++;
    *kernels = (KernelList){ .list = xcalloc((size_t) capacity, sizeof *kernels->list) };
    for (const char *at = text;; at++) {
        KernelAttempt *attempt = &kernels->list[kernels->count];
        int end = 0;
        long long kernel;
        if (strspn(at, "0123456789") > 18 ||
            sscanf(at, "%lld.%6d%n", &kernel, &attempt->number, &end) != 2 || kernel < 1 ||
            attempt->number < 1 || (at[end] && at[end] != ','))
            return false;
        attempt->kernel = kernel;
        kernels->count++;
        at += end;
        if (!*at)
            return true;
    }
}

bool kernels_import(Store *store, const char *folder, int lab, const KernelList *kernels,
                    char *problem, size_t size)
{
    char path[1000];

    for (int i = 0; i < kernels->count; i++) {
        int64_t kernel = kernels->list[i].kernel;
        size_t bytes = 0;
        char *source =
            read_file(PUT(path, "%s/%lld.cu", folder, (long long) kernel), KERNEL_BYTES, &bytes);
        if (!source) {
            put(problem, size, "cannot read %s: %s", path, strerror(errno));
            return false;
        }
        store_do(store,
                 "INSERT OR REPLACE INTO kernels (id, lab, hash, source) VALUES (?, ?, ?, ?)",
                 "itib", kernel, all_labs[lab].folder,
                 (int64_t) hash_bytes(HASH_START, source, bytes), source, bytes);
        free(source);
    }
    return true;
}

int queue_request_changed(Store *store, const char *lab, uint64_t hash)
{
    /* A hash of 0 is unknown. Kernels that are still open are graded anyway. */
    static const char changed[] =
        " FROM progress p JOIN verdicts v ON v.attempt = p.latest"
        " WHERE p.lab = ?1 AND p.graded > 0 AND v.lab_hash NOT IN (?2, '', '0')"
        "   AND p.kernel IN (SELECT kernel FROM temp.handed_in)";
    char text[20], sql[600];
    int count;

    people_match(store);
    PUT(text, "%016" PRIx64, hash);
    count = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", changed), "tt", lab, text);
    if (count)
        store_do(store,
                 PUT(sql,
                     "INSERT INTO regrades (kernel, after, at)"
                     " SELECT p.kernel, p.attempts, datetime('now')%s",
                     changed),
                 "tt", lab, text);
    return count;
}

int queue_request_quick(Store *store, const char *lab)
{
    static const char quick[] = " FROM progress p JOIN verdicts v ON v.attempt = p.latest"
                                " WHERE p.lab = ?1 AND p.graded > 0 AND v.protocol = 'quick'"
                                "   AND p.kernel IN (SELECT kernel FROM temp.handed_in)";
    char sql[600];
    int count;

    people_match(store);
    count = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", quick), "t", lab);
    if (count)
        store_do(store,
                 PUT(sql,
                     "INSERT INTO regrades (kernel, after, at)"
                     " SELECT p.kernel, p.attempts, datetime('now')%s",
                     quick),
                 "t", lab);
    return count;
}

bool task_open(const Task *task)
{
    return !task->graded && task->errors_left > 0;
}

void queue_count(Store *store, QueueCounts *counts)
{
    static const char labs[] = "(SELECT count(*) FROM course_labs)";
    char sql[400];

    *counts = (QueueCounts){ 0 };
    people_match(store);
    counts->students =
        (int) store_number(store, 0, "SELECT count(DISTINCT person) FROM temp.person_of", "");
    counts->parts = (int) store_number(
        store, 0, "SELECT count(*) FROM temp.handed_in WHERE lab IN (SELECT lab FROM course_labs)",
        "");
    counts->unreadable = (int) store_number(
        store, 0, "SELECT count(*) FROM temp.unreadable WHERE lab IN (SELECT lab FROM course_labs)",
        "");
    counts->missing = (int) store_number(store, 0, PUT(sql, "SELECT ? * %s", labs), "i",
                                         (int64_t) counts->students) -
                      counts->parts - counts->unreadable;
#define OF_COUNTED                                                                                 \
    " FROM progress p WHERE p.kernel IN (SELECT kernel FROM temp.handed_in WHERE lab IN"           \
    " (SELECT lab FROM course_labs))"
    counts->kernels = (int) store_number(store, 0, "SELECT count(*)" OF_COUNTED, "");
    counts->graded =
        (int) store_number(store, 0, "SELECT count(*)" OF_COUNTED " AND p.graded > 0", "");
    counts->given_up =
        (int) store_number(store, 0, "SELECT count(*)" OF_COUNTED " AND " SQL_GIVEN_UP, "");
    counts->open = (int) store_number(store, 0, "SELECT count(*)" OF_COUNTED " AND " SQL_OPEN, "");
}
