/* check_driver.h - check.h for the driver API. */
#ifndef CHECK_DRIVER_H
#define CHECK_DRIVER_H

#include "check.h"

#include <cuda.h>

/* The call must return this result; otherwise the message names the returned one. */
#define DRIVER_SAYS(result, call)                                                                  \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        const char *name_ = "an unknown result";                                                   \
        if (got_ != (result)) {                                                                    \
            cuGetErrorName(got_, &name_);                                                          \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define DRIVER(call) DRIVER_SAYS(CUDA_SUCCESS, call)

#endif
