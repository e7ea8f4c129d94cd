/* rt_error.c - the last error of each thread, and what errors are called. */
#include "rt.h"

/* ---- The last error ---- */

static _Thread_local cudaError_t last;

void last_error_set(cudaError_t error)
{
    last = error;
}

int refuse_unsupported(void); /* for rt_stubs.c, which cannot include the header */
int refuse_unsupported(void)
{
    last = cudaErrorNotSupported;
    return cudaErrorNotSupported;
}

/* Neither needs the lock, nor opens the GPU. After a failed kernel, too, the first resets what was
 * told; but the next call tells it again. */
API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;

    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

/* ---- Names and texts ---- */

static const struct ErrorText {
    int code;
    const char *name, *text;
} texts[] = {
#define ERROR(code, name, text) { code, #name, text },
#include "errors.def"
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
