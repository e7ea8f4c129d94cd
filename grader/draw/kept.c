/* kept.c - one line per point: "key:... intensity:... gflops:... reached:... cached:0", or only a
 * key if the rung is left out. The last line with a key counts. */
#include "draw/kept.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE = 256 << 10, MOST_FILE = 64 << 10, LINE = 300 };

uint64_t kept_key(const CollectJob *job, const char *source)
{
    const Session *session = job->session;
    const Case *c = job->lab_case;
    size_t size = 0;
    char *text = read_file(source, MOST_SOURCE, &size);
    uint64_t key = lab_hash(&session->book, job->entry) ^ session->simulator ^ session->seed;

    if (text)
        key = hash_bytes(key, text, size);
    free(text);
    key = hash_bytes(key, c->label, strlen(c->label));
    return hash_bytes(key, c->dim, sizeof c->dim);
}

void kept_open(const CollectJob *job, KeptPoints *kept)
{
    char folder[PATH], word[80];

    *kept = (KeptPoints){ .text = NULL };
    if (find_build_folder(folder, sizeof folder)) {
        PUT(kept->path, "%.300s/rungs", folder);
        if (make_folders(kept->path))
            PUT(kept->path, "%.300s/rungs/%s-%s", folder, job->entry->folder,
                session_device_word(job->session, word, sizeof word));
        else
            *kept->path = 0;
        kept->text = read_file(kept->path, MOST_FILE, NULL);
    }
    if (!kept->text) {
        remove(kept->path); /* too large: begins again */
        kept->text = xcalloc(1, 1);
    }
}

void kept_close(KeptPoints *kept)
{
    free(kept->text);
}

/* False if the line has no figures. */
static bool read_point(const char *line, Roofline *at)
{
    double cached;
    const bool well = field_double(line, "intensity", &at->intensity) &&
                      field_double(line, "gflops", &at->gflops) &&
                      field_double(line, "reached", &at->reached) &&
                      field_double(line, "cached", &cached);

    at->is_cached = well && cached > 0;
    return well;
}

Kept kept_find(const KeptPoints *kept, uint64_t key, RooflinePoint *point)
{
    const char *at = kept->text, *end = at + strlen(at);
    char line[LINE], wanted[40], found[40];
    Kept result = NOT_KEPT;

    PUT(wanted, "%016llx", (unsigned long long) key);
    while (next_line(&at, end, line, sizeof line))
        if (field(line, "key", found, sizeof found) && !strcmp(found, wanted))
            result = read_point(line, &point->at) ? KEPT : LEFT_OUT;
    return result;
}

void kept_add(const KeptPoints *kept, uint64_t key, const RooflinePoint *point)
{
    FILE *to = *kept->path ? fopen(kept->path, "a") : NULL;

    if (!to)
        return;
    fprintf(to, "key:%016llx", (unsigned long long) key);
    if (point)
        fprintf(to, " intensity:%.9g gflops:%.9g reached:%.9g cached:%d", point->at.intensity,
                point->at.gflops, point->at.reached, point->at.is_cached);
    fprintf(to, "\n");
    fclose(to);
}
