/* stubs.c - the calls that are not simulated: each reports itself once and returns an error.
 *
 * Without them, a program that uses such a call would stop with a dynamic linker error, or not
 * start at all. calls.def lists the names; calls.sh writes it. The CUDA header is not included,
 * since it declares these functions with their parameters.
 */
#include "sim/base/finding.h"

int refuse_unsupported(void); /* sim/runtime/state.c */

static int refuse(const char *name)
{
    finding(FINDING_UNKNOWN_CALL, true, &(Place){ .kernel = name },
            "the program calls %s, which is not simulated; it returns cudaErrorNotSupported", name);
    return refuse_unsupported();
}

/* The only call that returns a structure, by value: a description of the elements of an array. */
typedef struct ChannelDescription {
    int bits[4], kind;
} ChannelDescription;

__attribute__((visibility("default"))) ChannelDescription cudaCreateChannelDesc(int x, int y, int z,
                                                                                int w, int kind);
ChannelDescription cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (ChannelDescription){ { x, y, z, w }, kind };
}

#define UNKNOWN_CALL(name)                                                                         \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "sim/runtime/calls.def"
