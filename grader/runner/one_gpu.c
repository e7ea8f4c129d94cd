/* one_gpu.c - a runner sees the GPU that it is for, and no other.
 *
 * So student code can't be at work on a GPU on which somebody else is being graded. And CUDA starts
 * sooner: it brings up, for each process, all GPUs that it sees.
 */
#include "runner/one_gpu.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

int see_one_gpu(int device)
{
    const char *listed = getenv(variable);
    char one[80];

    if (!listed)
        PUT(one, "%d", device);
    else {
        for (int i = 0; i < device && listed; i++)
            if ((listed = strchr(listed, ',')))
                listed++;
        if (!listed || !*listed || strcspn(listed, ",") >= sizeof one)
            return device;
        PUT(one, "%.*s", (int) strcspn(listed, ","), listed);
    }
    setenv(variable, one, 1);
    return 0;
}
