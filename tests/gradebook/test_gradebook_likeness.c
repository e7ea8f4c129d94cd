/* test_gradebook_likeness.c - honest kernels in different styles are not similar, but disguised
 * copies are. */
#include "gradebook/report/likeness.h"
#include "base/registry.h"
#include "base/tokens.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64 };

typedef struct Files {
    char *texts[FILES], *paths[FILES];
    int count;
} Files;

static void read_files(const char *pattern, Files *files)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && files->count < FILES; i++) {
        files->texts[files->count] = read_file(found.gl_pathv[i], 1 << 20, NULL);
        files->paths[files->count++] = strdup(found.gl_pathv[i]);
    }
    globfree(&found);
}

static void free_files(Files *files)
{
    for (int i = 0; i < files->count; i++) {
        free(files->texts[i]);
        free(files->paths[i]);
    }
}

/* Reads the starter, then the rungs. */
static Files ladder_of(const char *lab)
{
    Files ladder = { 0 };
    char pattern[200];

    read_files(PUT(pattern, "solutions/%s/0_starter.cu", lab), &ladder);
    read_files(PUT(pattern, "solutions/%s/[1-9]*.cu", lab), &ladder);
    return ladder;
}

static bool is_here(void)
{
    static int here = -1;

    if (here < 0)
        here = !system("command -v sim_c > /dev/null");
    if (!here)
        printf("\n  skipped: sim_c is not installed (make setup)\n");
    return here;
}

/* ---- Honest kernels ---- */

static int ascending(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

typedef struct Shares {
    int list[8192], count;
} Shares;

static void tell(const char *what, Shares *s)
{
    qsort(s->list, (size_t) s->count, sizeof *s->list, ascending);
    printf("\n  %s, %d pairs: median %d %%, 90th percentile %d, 99th percentile %d, "
           "maximum %d",
           what, s->count, s->list[s->count / 2], s->list[s->count * 9 / 10],
           s->list[s->count * 99 / 100], s->list[s->count - 1]);
}

/* Pairs that are not reported share 0 %. */
static void take(const Likenesses *found, int pairs, Shares *shares)
{
    CU_ASSERT_FALSE(found->cut);
    CU_ASSERT(found->count <= pairs);
    for (int i = 0; i < pairs; i++)
        shares->list[shares->count++] = i < found->count ? found->list[i].percent : 0;
}

/* Takes all pairs of a lab. */
static void measure(const char *lab, Shares *honest, Shares *rungs)
{
    static Compared found;
    Files files = { 0 }, ladder = ladder_of(lab);
    char pattern[200];
    int alone;

    read_files(PUT(pattern, "tests/honest/%s_*.cu", lab), &files);
    alone = files.count;
    read_files(PUT(pattern, "solutions/%s/[1-9]*.cu", lab), &files);
    likeness_find((const char *const *) files.texts, files.count, alone,
                  (const char *const *) ladder.texts, ladder.count, 1, &found);
    CU_ASSERT_STRING_EQUAL(found.problem, "");
    take(&found.pairs, alone * (alone - 1) / 2, honest);
    take(&found.fixed, alone * (files.count - alone), rungs);
    free_files(&files);
    free_files(&ladder);
}

/* docs/class-reports.md quotes what this prints. */
static void honest_kernels_are_not_alike(void)
{
    static Shares honest, rungs;

    if (!is_here())
        return;
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        measure(entry->folder, &honest, &rungs);
    tell("honest kernels with each other", &honest);
    tell("and with the rungs", &rungs);
    printf(" ");
    CU_ASSERT(honest.count > 400);
    CU_ASSERT(honest.list[honest.count - 1] < LIKENESS_ALIKE);
}

/* ---- Copies ---- */

/* Copies a kernel with other names, without comments, and with an extra statement after every
 * second one. */
static char *disguise(const char *source)
{
    size_t size, used = 0, statements = 0;
    char *tokens = token_stream(source, &size), *copy = xmalloc(20 * size + 100);
    bool directive = false;

    for (const char *at = tokens; at < tokens + size; at += strlen(at) + 1) {
        bool own = islower((unsigned char) *at) &&
                   strchr(at, '_'); /* a student's name in the workbook's style */
        directive |= *at == '#';
        directive &= *at != '\n';
        used += (size_t) sprintf(copy + used, "%s%s ", own ? "my_" : "", at);
        if (!directive && !strcmp(at, ";") && ++statements % 2 == 0)
            used +=
                (size_t) sprintf(copy + used, "\nint spare%zu = %zu;\n", statements, statements);
    }
    free(tokens);
    return copy;
}

static void disguised_copies_are_alike(void)
{
    static Compared found;
    static Shares copies;

    if (!is_here())
        return;
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        Files files = { 0 }, ladder = ladder_of(entry->folder);
        char pattern[200];
        read_files(PUT(pattern, "tests/honest/%s_*.cu", entry->folder), &files);
        for (int i = 0; i < files.count; i++) {
            char *copy = disguise(files.texts[i]);
            const char *const both[] = { files.texts[i], copy };
            likeness_find(both, 2, 2, (const char *const *) ladder.texts, ladder.count, 1, &found);
            copies.list[copies.count++] = found.pairs.count ? found.pairs.list[0].percent : 0;
            free(copy);
        }
        free_files(&files);
        free_files(&ladder);
    }
    tell("disguised copies", &copies);
    printf("; 10th percentile %d ", copies.list[copies.count / 10]);
    CU_ASSERT(copies.count > 70);
    CU_ASSERT(copies.list[copies.count / 10] >= LIKENESS_ALIKE);
}

/* ---- Odd texts ---- */

static void odd_texts_are_survived(void)
{
    static Compared found;
    static const char *const odd[] = {
        "",
        "/* never closed",
        "\"never closed\nint a; int b; int c;",
        "R\"x(raw )y\" )x\" ;;;;{{{{}}}}",
        "#include <a>\n#define \xff\xfe 1\n",
        "12.c consists for 100 % of 0.c material",
    };

    if (!is_here())
        return;
    likeness_find(odd, 6, 6, NULL, 0, 1, &found);
    CU_ASSERT_STRING_EQUAL(found.problem, "");
    CU_ASSERT_EQUAL(found.pairs.count, 0);
    likeness_find(odd, 1, 1, NULL, 0, 1, &found);
    CU_ASSERT_EQUAL(found.pairs.count, 0);
}

CU_SuiteInfo test_gradebook_likeness = {
    "gradebook likeness",
    .pTests =
        (CU_TestInfo[]){
            { "honest kernels are not alike", honest_kernels_are_not_alike },
            { "disguised copies are alike", disguised_copies_are_alike },
            { "odd texts do no harm", odd_texts_are_survived },
            CU_TEST_INFO_NULL,
        },
};
