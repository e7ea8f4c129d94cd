/* rows.h - for tests that are rows of a table: how many there are, and what one of them said. */
#ifndef ROWS_H
#define ROWS_H

#include <CUnit/CUnit.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* CUnit's own messages hold the source of an assertion, not its values. */
#define FAIL_SAYING(...)                                                                           \
    do {                                                                                           \
        printf("\n    " __VA_ARGS__);                                                              \
        CU_FAIL("as said above");                                                                  \
    } while (0)

#endif
