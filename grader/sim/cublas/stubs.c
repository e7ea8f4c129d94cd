/* stubs.c - the calls of cuBLAS that the small one lacks: each reports itself once and returns
 * CUBLAS_STATUS_NOT_SUPPORTED. calls.def lists the names; calls.sh writes it. */
#include <stdbool.h>
#include <stdio.h>

enum { NOT_SUPPORTED = 15 };

static int refuse(const char *name, bool *reported)
{
    if (!*reported)
        fprintf(stderr,
                "sim: unknown call: the program calls %s, which Warpbook's small cuBLAS\n"
                "     lacks; it returns CUBLAS_STATUS_NOT_SUPPORTED\n",
                name);
    *reported = true;
    return NOT_SUPPORTED;
}

#define UNKNOWN_CALL(name)                                                                         \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        static bool reported;                                                                      \
        return refuse(#name, &reported);                                                           \
    }
#include "sim/cublas/calls.def"
