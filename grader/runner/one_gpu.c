/* one_gpu.c - limits a runner to the one GPU that it is for.
 *
 * Student code then cannot use a GPU on which someone else is being graded. CUDA also starts
 * sooner, because it brings up every visible GPU for each process.
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
