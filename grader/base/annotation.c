/* annotation.c - messages as lines: those of GCC, and workflow commands of GitHub Actions. */
#include "base/annotation.h"
#include "base/escape.h"

#include <string.h>
#include <unistd.h>

static const struct {
    const char *gcc, *github;
} words[LEVELS] = {
#define LEVEL_WORDS(level, sarif, gcc, github) [level] = { gcc, github },
    LEVEL_ROWS(LEVEL_WORDS)
#undef LEVEL_WORDS
};

const char *path_from_here(const char *path)
{
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    return length > 1 && !strncmp(path, here, length) && path[length] == '/' ? path + length + 1
                                                                             : path;
}

/* ---- GCC ---- */

static void write_place(FILE *out, const char *file, int line, int column)
{
    if (!file) {
        fputs("warpbook", out);
        return;
    }
    write_one_line(out, file);
    fprintf(out, ":%d:%d", line > 0 ? line : 1, column > 0 ? column : 1);
}

void annotation_gcc(FILE *out, const Annotation *a)
{
    write_place(out, a->file, a->line, a->column);
    fprintf(out, ": %s: ", words[a->level].gcc);
    write_one_line(out, a->text);
    fprintf(out, " [%s]\n", a->rule);
    if (!a->other_line)
        return;
    write_place(out, a->file, a->other_line, 0);
    fprintf(out, ": note: %s\n", a->other_text);
}

/* ---- GitHub ---- */

void annotation_github(FILE *out, const Annotation *a)
{
    fprintf(out, "::%s ", words[a->level].github);
    if (a->file) {
        fputs("file=", out);
        write_github_property(out, a->file);
        putc(',', out);
    }
    if (a->file && a->line > 0)
        fprintf(out, "line=%d,", a->line);
    if (a->file && a->line > 0 && a->column > 0)
        fprintf(out, "col=%d,", a->column);
    fputs("title=", out);
    write_github_property(out, a->rule);
    fputs("::", out);
    write_github_data(out, a->text);
    putc('\n', out);
}
