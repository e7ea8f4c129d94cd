/* stubs.c - the calls that are not simulated: each reports itself once and returns an error.
 *
 * Without them, a program that uses one would stop at its first use with an error of the dynamic
 * linker, or not start at all. calls.def lists the names; calls.sh writes it. The header is not
 * included, since it declares these with their parameters.
 */
#include "sim/base/finding.h"

int refuse_unsupported(void); /* sim/runtime/state.c */

static int refuse(const char *name)
{
    finding(FINDING_UNKNOWN_CALL, true, &(Place){ .kernel = name },
            "the program calls %s, which is not simulated; it returns cudaErrorNotSupported", name);
    return refuse_unsupported();
}

#define UNKNOWN_CALL(name)                                                                         \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "sim/runtime/calls.def"
