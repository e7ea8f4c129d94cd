/* error_text.c - the names and texts of CUDA's errors: for the library and for the guest's runtime
 * (sim/guest). */
#include <cuda_runtime_api.h>

#include <stddef.h>

#define API __attribute__((visibility("default")))

static const struct ErrorText {
    int code;
    const char *name, *text;
} texts[] = {
#define ERROR(code, name, text) { code, #name, text },
#include "sim/runtime/errors.def"
#undef ERROR
};

static const struct ErrorText *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == (int) error)
            return &texts[i];
    return NULL;
}

API const char *cudaGetErrorName(cudaError_t error)
{
    const struct ErrorText *found = find(error);

    return found ? found->name : "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error)
{
    const struct ErrorText *found = find(error);

    return found ? found->text : "unrecognized error code";
}
