/* test_registry.c - a lab is found by its folder, its number or its words. */
#include "base/registry.h"

#include <CUnit/CUnit.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const LabEntry table[] = {
    { "00_first" },     { "02_bank_conflicts" }, { "06_transpose" }, { "07_reduction" },
    { "09_sgemm" },     { "10_sgemm" },          { "11_one" },       { "11_other" },
    { "123_numbered" }, { "3d_stencil" },        { "plain" },        { 0 },
};

static void found_or_not(void)
{
    static const struct {
        const char *name, *folder; /* NULL: none */
    } rows[] = {
        { "06_transpose", "06_transpose" },
        { "6", "06_transpose" },
        { "06", "06_transpose" },
        { "006", "06_transpose" },
        { "transpose", "06_transpose" },
        { "0", "00_first" },
        { "00", "00_first" },
        { "bank_conflicts", "02_bank_conflicts" },
        { "123", "123_numbered" },
        { "3d_stencil", "3d_stencil" },
        { "plain", "plain" },
        { "10_sgemm", "10_sgemm" },
        { "10", "10_sgemm" },
        { "sgemm", NULL }, /* ambiguous */
        { "11", NULL },    /* ambiguous */
        { "other", "11_other" },
        { "Transpose", NULL },
        { "TRANSPOSE", NULL },
        { "trans", NULL },
        { "6_transpose", NULL },
        { "conflicts", NULL },
        { "transpose ", NULL },
        { "60", NULL },
        { "-6", NULL },
        { "6.0", NULL },
        { "+6", NULL },
        { " 6", NULL },
        { "3", NULL },
        { "4294967302", NULL }, /* 2^32 + 6 */
        { "_transpose", NULL },
        { "d_stencil", NULL },
        { "", NULL },
        { NULL, NULL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const LabEntry *entry = lab_find_in(table, rows[i].name);
        CU_ASSERT_EQUAL(entry != NULL, rows[i].folder != NULL);
        if (entry && rows[i].folder)
            CU_ASSERT_STRING_EQUAL(entry->folder, rows[i].folder);
    }
}

static void number_and_name(void)
{
    static const struct {
        int number;
        const char *name;
    } rows[] = {
        { 0, "first" },      { 2, "bank_conflicts" }, { 6, "transpose" }, { 7, "reduction" },
        { 9, "sgemm" },      { 10, "sgemm" },         { 11, "one" },      { 11, "other" },
        { 123, "numbered" }, { -1, "3d_stencil" },    { -1, "plain" },
    };

    for (size_t i = 0; table[i].folder; i++) {
        CU_ASSERT_EQUAL(lab_number(&table[i]), rows[i].number);
        CU_ASSERT_STRING_EQUAL(lab_name(&table[i]), rows[i].name);
    }
}

/* The table that the Makefile generated from labs/: each lab is found in every way. */
static void all_labs_are_found(void)
{
    size_t count = 0;

    for (const LabEntry *entry = all_labs; entry->folder; entry++, count++) {
        char number[16];
        snprintf(number, sizeof number, "%d", lab_number(entry));
        CU_ASSERT_PTR_EQUAL(lab_find(entry->folder), entry);
        CU_ASSERT_PTR_EQUAL(lab_find(lab_name(entry)), entry);
        CU_ASSERT_PTR_EQUAL(lab_find(number), entry);
        CU_ASSERT(count == 0 || lab_number(entry) > lab_number(entry - 1));
    }
    CU_ASSERT(count > 0);
    CU_ASSERT_PTR_NULL(lab_find("no such lab"));
}

/* What all other code assumes about a lab. */
static void all_labs_are_complete(void)
{
    for (const LabEntry *entry = all_labs; entry->folder; entry++) {
        const Lab *lab = entry->lab;
        size_t cases = 0, timed = 0;
        CU_ASSERT_FATAL(lab != NULL);
        CU_ASSERT(lab->title && strlen(lab->title) < 40);
        CU_ASSERT(lab->function && isalpha((unsigned char) lab->function[0]));
        CU_ASSERT(lab->shape && lab->truth && lab->call && lab->work);
        CU_ASSERT_FATAL(lab->cases != NULL);
        for (const Case *c = lab->cases; c->label; c++, cases++) {
            timed += c->kind == TIMED;
            CU_ASSERT_EQUAL(c->kind == TIMED, c->bar > 0);
            CU_ASSERT(c->bar < 1);
        }
        CU_ASSERT(cases > timed);
        CU_ASSERT_EQUAL(lab->unmarked, timed == 0);
        for (int h = 0; h < LAB_HINTS; h++)
            CU_ASSERT(lab->hints[h] && strlen(lab->hints[h]) > 40);
    }
}

CU_SuiteInfo test_registry = {
    "registry",
    .pTests =
        (CU_TestInfo[]){
            { "found or not", found_or_not },
            { "number and name", number_and_name },
            { "all labs are found", all_labs_are_found },
            { "all labs are complete", all_labs_are_complete },
            CU_TEST_INFO_NULL,
        },
};
