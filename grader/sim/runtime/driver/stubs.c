/* stubs.c - the driver's calls that are not simulated: each reports itself once and returns
 * CUDA_ERROR_NOT_SUPPORTED. calls.def lists the names; calls.sh writes it. cuda.h is not included,
 * since it declares these functions with their parameters.
 */
#include "sim/base/finding.h"

enum { NOT_SUPPORTED = 801 };

static int refuse(const char *name)
{
    finding(FINDING_UNKNOWN_CALL, true, &(Place){ .kernel = name },
            "the program calls %s, which is not simulated; it returns CUDA_ERROR_NOT_SUPPORTED",
            name);
    return NOT_SUPPORTED;
}

#define UNKNOWN_CALL(name)                                                                         \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "sim/runtime/driver/calls.def"
