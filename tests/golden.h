/* golden.h - for tests: the messages of warpbook, compared with tests/warpbook.golden.
 *
 * Tests check codes. The texts are in one file, a section per test, so that a better wording
 * changes only the code and that file: WARPBOOK_GOLDEN=write build/unit-tests writes it anew, and
 * git diff shows what changed.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char golden_file[] = "tests/warpbook.golden";

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

static inline void golden_write(char *all, const char *head, char *begin, char *end,
                                const char *text)
{
    FILE *file = fopen(golden_file, "w");

    if (!file)
        die("cannot write %s", golden_file);
    fprintf(file, "%.*s%s%s%s", (int) (begin - all), all, begin == end && !*end ? head : "", text,
            end);
    fclose(file);
}

/* Compares the text with its section. Every line of the text ends with a line end. */
static inline void golden(const char *section, const char *text)
{
    char head[80], *all = read_file(golden_file, 1 << 20, NULL), *begin, *end;
    const char *mode = getenv("WARPBOOK_GOLDEN");

    if (!all)
        all = xcalloc(1, 1);
    begin = golden_section(all, PUT(head, "== %s\n", section), &end);
    if (mode && !strcmp(mode, "write"))
        golden_write(all, head, begin, end, text);
    else if (strlen(text) != (size_t) (end - begin) || memcmp(text, begin, strlen(text))) {
        printf("\n%s differs from %s:\n%s", section, golden_file, text);
        CU_FAIL("a text changed: WARPBOOK_GOLDEN=write stores it");
    }
    free(all);
}

#endif
