/* golden.h - for tests: the messages of a program, compared with its file: tests/warpbook.golden,
 * tests/gradebook.golden.
 *
 * Tests check codes. The texts are in one file, a section per test, so that a better wording
 * changes only the code and that file: WARPBOOK_GOLDEN=write build/unit-tests writes it anew, and
 * git diff shows what changed. tests/golden.sh does the same for scripts.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the section begins, and where it ends: at the next line with "==" or at the end. */
static inline char *golden_section(char *all, const char *head, char **end)
{
    char *begin = strstr(all, head);

    if (!begin)
        return *end = all + strlen(all);
    begin += strlen(head);
    *end = strstr(begin, "\n== ");
    *end = *end ? *end + 1 : begin + strlen(begin);
    return begin;
}

static inline void golden_write(const char *path, char *all, const char *head, char *begin,
                                char *end, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die("cannot write %s", path);
    fprintf(file, "%.*s%s%s%s", (int) (begin - all), all, begin == end && !*end ? head : "", text,
            end);
    fclose(file);
}

/* Compares the text with its section of the file. Every line of the text ends with a line end. */
static inline void golden_in(const char *path, const char *section, const char *text)
{
    char head[80], *all = read_file(path, 1 << 20, NULL), *begin, *end;
    const char *mode = getenv("WARPBOOK_GOLDEN");

    if (!all)
        all = xcalloc(1, 1);
    begin = golden_section(all, PUT(head, "== %s\n", section), &end);
    if (mode && !strcmp(mode, "write"))
        golden_write(path, all, head, begin, end, text);
    else if (strlen(text) != (size_t) (end - begin) || memcmp(text, begin, strlen(text))) {
        printf("\n%s differs from %s:\n%s", section, path, text);
        CU_FAIL("a text changed: WARPBOOK_GOLDEN=write stores it");
    }
    free(all);
}

static inline void golden(const char *section, const char *text)
{
    golden_in("tests/warpbook.golden", section, text);
}

static inline void golden_gradebook(const char *section, const char *text)
{
    golden_in("tests/gradebook.golden", section, text);
}

#endif
