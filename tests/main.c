/* main.c - runs the unit tests: all suites, or those named as arguments. */
#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Made by the Makefile: a suite for each tests/test_*.c; ends with NULL. */
extern CU_SuiteInfo *const all_suites[];

static CU_SuiteInfo *find(const char *name)
{
    for (CU_SuiteInfo *const *suite = all_suites; *suite; suite++)
        if (!strcmp((*suite)->pName, name))
            return *suite;
    return NULL;
}

static bool add(const CU_SuiteInfo *suite)
{
    CU_SuiteInfo one[] = { *suite, CU_SUITE_INFO_NULL };

    if (CU_register_suites(one) == CUE_SUCCESS)
        return true;
    fprintf(stderr, "suite %s: %s\n", suite->pName, CU_get_error_msg());
    return false;
}

/* No failed check, but also: every suite started, and something was checked at all. */
static bool all_is_well(void)
{
    const CU_pRunSummary summary = CU_get_run_summary();

    return summary->nAsserts && !summary->nAssertsFailed && !summary->nTestsFailed &&
           !summary->nSuitesFailed && !summary->nTestsInactive && !CU_get_failure_list();
}

int main(int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        CU_SuiteInfo *suite = find(argv[i]);
        if (suite && add(suite))
            continue;
        fprintf(stderr, "There is no suite %s; there are:", argv[i]);
        for (CU_SuiteInfo *const *each = all_suites; *each; each++)
            fprintf(stderr, " %s", (*each)->pName);
        fprintf(stderr, "\n");
        return 2;
    }
    for (CU_SuiteInfo *const *suite = all_suites; argc == 1 && *suite; suite++)
        if (!add(*suite))
            return 2;

    /* A test that dies must not take with it what was said before. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    CU_basic_set_mode(CU_BRM_NORMAL);
    bool well = CU_basic_run_tests() == CUE_SUCCESS && all_is_well();
    CU_cleanup_registry();
    return !well;
}
