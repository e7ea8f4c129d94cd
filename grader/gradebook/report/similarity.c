/* similarity.c - kernels of a class that are similar to each other or to a rung.
 *
 * The ladder is read from solutions/ in the current folder, as for grading. Without it, kernels are
 * compared only with each other.
 */
#include "gradebook/report/similarity.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_BYTES = 256 << 10, SKELETONS = 32 };

static void add(Similarity *s, char *text, int64_t kernel, const char *file)
{
    s->kernels = xrealloc(s->kernels, (size_t) (s->count + 1), sizeof *s->kernels);
    s->texts = xrealloc(s->texts, (size_t) (s->count + 1), sizeof *s->texts);
    s->kernels[s->count] = (ComparedKernel){ kernel, xstrdup(file) };
    s->texts[s->count++] = text;
}

static void add_kernels(Store *store, const char *lab, Similarity *s)
{
    people_match(store);

    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT k.id, k.source FROM kernels k WHERE k.id IN"
                  " (SELECT kernel FROM temp.handed_in WHERE lab = ?) ORDER BY k.id",
                  "t", lab);

    while (store_row(store, rows)) {
        int64_t kernel = sqlite3_column_int64(rows, 0);
        const char *source = store_text(rows, 1);
        add(s, xstrndup(source, (size_t) sqlite3_column_bytes(rows, 1)), kernel, "");
    }
    s->students = s->count;
}

/* Adds the files of solutions/LAB that match a pattern, except the starter. */
static void add_files(const char *lab, const char *pattern, Similarity *s)
{
    char whole[600], folder[300];
    glob_t found;

    PUT(folder, "solutions/%s/", lab);
    if (glob(PUT(whole, "%s%s", folder, pattern), 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_file(found.gl_pathv[i], KERNEL_BYTES, NULL);
        if (text)
            add(s, text, 0, found.gl_pathv[i] + strlen(folder));
    }
    globfree(&found);
}

/* Adds the kernels of an earlier class, under their students' names. They are compared with this
 * class's kernels, but not with each other. */
static void add_earlier(const Store *store, const char *lab, Similarity *s)
{
    Store earlier;
    sqlite3_stmt *rows;

    if (!store_open(&earlier, store->against, false))
        die("--against: %s", earlier.problem);
    people_match(&earlier);
    rows = store_ask(&earlier,
                     "SELECT k.source, p.name, p.number, count(*) FROM temp.handed_in h"
                     " JOIN kernels k ON k.id = h.kernel JOIN temp.people p ON p.id = h.person"
                     " WHERE h.lab = ? GROUP BY k.id ORDER BY k.id",
                     "t", lab);
    while (store_row(&earlier, rows)) {
        const char *source = store_text(rows, 0), *number = store_text(rows, 2);
        size_t bytes = (size_t) sqlite3_column_bytes(rows, 0);
        int others = sqlite3_column_int(rows, 3) - 1;
        char name[700];
        PUT(name, "%.300s%s%s%s%s in %.200s", store_text(rows, 1), *number ? " (" : "", number,
            *number ? ")" : "", others ? " and others" : "", store->against);
        add(s, xstrndup(source, bytes), 0, name);
    }
    store_close(&earlier);
}

void similarity_find(Store *store, const char *lab, Similarity *s)
{
    const char *skeleton[SKELETONS];
    int skeletons = 0, rungs;
    char path[300], *starter;

    *s = (Similarity){ 0 };
    add_kernels(store, lab, s);
    add_files(lab, "[1-9]*.cu", s);
    rungs = s->count;
    add_files(lab, "beyond/*.cu", s);
    if (store->against)
        add_earlier(store, lab, s);
    starter = read_file(PUT(path, "solutions/%s/0_starter.cu", lab), KERNEL_BYTES, NULL);
    skeleton[skeletons++] = starter ? starter : "";
    for (int i = s->students; i < rungs && skeletons < SKELETONS; i++)
        skeleton[skeletons++] = s->texts[i];
    likeness_find((const char *const *) s->texts, s->count, s->students, skeleton, skeletons,
                  LIKENESS_LISTED, &s->found);
    free(starter);
}

void similarity_free(Similarity *s)
{
    for (int i = 0; i < s->count; i++) {
        free((char *) s->kernels[i].file);
        free(s->texts[i]);
    }
    free(s->kernels);
    free(s->texts);
}

char *similarity_names(const ResultsTable *results, const char *lab, const ComparedKernel *kernel,
                       char *text, size_t size)
{
    put(text, size, "%s", kernel->file);
    for (int i = 0; i < results->row_count && kernel->kernel; i++) {
        const Row *row = &results->rows[i];
        if (row->kernel != kernel->kernel || strcmp(row->lab, lab))
            continue;
        if (strlen(text) + 400 > size) /* a name, a number: 264 bytes at most */
            return append(text, size, ", and others");
        append(text, size, "%s%s%s%s%s", *text ? ", " : "", row->name, *row->number ? " (" : "",
               row->number, *row->number ? ")" : "");
    }
    return text;
}
