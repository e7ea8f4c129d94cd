/* rebuild.c - makes a gradebook from the logs of another one, whose database is lost.
 *
 * Kernels keep their numbers. Attempts of a kernel keep their order and are numbered anew, since a
 * number can occur twice (log.c). Nothing in the old folder is changed.
 */
#include "gradebook/store/rebuild.h"
#include "gradebook/store/log.h"
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file "17.1-2.txt" */
typedef struct LogName {
    int64_t kernel;
    int number, copy;
} LogName;

typedef struct Rebuilding {
    Store *store;
    RebuildCounts *counts;
    const char *lab;
    int lab_place;
    char folder[1000]; /* of the lab's logs */
    int64_t kernel;    /* of the latest log */
    int number;        /* of its latest attempt */
    bool present;      /* its source was there */
} Rebuilding;

static bool parse_name(const char *name, LogName *log)
{
    long long kernel;
    int end = 0, copy_end = 0;

    *log = (LogName){ .copy = 1 };
    if (strspn(name, "0123456789") > 18 ||
        sscanf(name, "%lld.%6d%n", &kernel, &log->number, &end) != 2)
        return false;
    if (sscanf(name + end, "-%6d%n", &log->copy, &copy_end) == 1)
        end += copy_end;
    log->kernel = kernel;
    return kernel > 0 && log->number > 0 && log->copy > 0 && !strcmp(name + end, ".txt");
}

static int is_log(const struct dirent *item)
{
    LogName log;

    return parse_name(item->d_name, &log);
}

static int by_order(const struct dirent **a, const struct dirent **b)
{
    LogName x, y;
    int order;

    parse_name((*a)->d_name, &x);
    parse_name((*b)->d_name, &y);
    order = (x.kernel > y.kernel) - (x.kernel < y.kernel);
    if (!order)
        order = x.number - y.number;
    return order ? order : x.copy - y.copy;
}

/* Adds the kernel of the following logs. Returns false if its source is not there. */
static bool add_kernel(Rebuilding *r, int64_t kernel)
{
    char path[1100];
    size_t size = 0;
    char *source =
        read_file(PUT(path, "%s/%lld.cu", r->folder, (long long) kernel), KERNEL_BYTES, &size);

    r->kernel = kernel;
    r->number = 0;
    r->present = source && !store_number(r->store, 0, "SELECT count(*) FROM kernels WHERE id = ?",
                                         "i", kernel);
    if (r->present)
        store_do(r->store, "INSERT INTO kernels (id, lab, hash, source) VALUES (?, ?, ?, ?)",
                 "itib", kernel, r->lab, (int64_t) hash_bytes(HASH_START, source, size), source,
                 size);
    r->counts->kernels += r->present;
    free(source);
    return r->present;
}

static void add_log(Rebuilding *r, const char *name)
{
    char path[1400], log[200];
    LogName named;
    Attempt attempt;

    parse_name(name, &named);
    if (named.kernel != r->kernel)
        add_kernel(r, named.kernel);
    if (!r->present) {
        r->counts->sourceless++;
    } else if (!attempt_read_log(PUT(path, "%s/%s", r->folder, name), r->lab, &attempt)) {
        r->counts->unreadable++;
    } else {
        Task task = { .kernel = named.kernel, .lab = r->lab_place, .number = ++r->number };
        log_write(r->store, &task, &attempt, log);
        attempt_add(r->store, &task, &attempt, log);
        r->counts->attempts++;
        attempt_free(&attempt);
    }
}

static void add_lab(Rebuilding *r)
{
    struct dirent **list = NULL;
    int count = scandir(r->folder, &list, is_log, by_order);

    r->kernel = 0;
    for (int i = 0; i < count; i++) {
        add_log(r, list[i]->d_name);
        free(list[i]);
    }
    free(list);
}

static bool add_course(Store *store, const char *from)
{
    char path[700], *mistakes = NULL;
    bool ok;

    PUT(path, "%s/" COURSE_COPY, from);
    ok = file_exists(path) && terms_load(store, path, &mistakes);
    free(mistakes);
    if (ok)
        terms_keep(store);
    return ok;
}

void rebuild_from_logs(Store *store, const char *from, RebuildCounts *counts)
{
    Rebuilding r = { .store = store, .counts = counts };

    *counts = (RebuildCounts){ .course = add_course(store, from) };
    store_do(store, "BEGIN IMMEDIATE", "");
    for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++) {
        r.lab = all_labs[lab].folder;
        r.lab_place = lab;
        PUT(r.folder, "%s/logs/%s", from, r.lab);
        add_lab(&r);
    }
    store_do(store, "COMMIT", "");
}
