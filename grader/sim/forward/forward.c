/* forward.c - libcuda.so.1: finds the library that simulates the driver's calls.
 *
 * The calls themselves are in the same library as the runtime's, so that a program may mix both.
 * This one only has the name for which programs ask. Its calls (forward.sh) jump to those of the
 * first library that has them, or else of libcudart-sim.so in the folder above.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char forward_names[] __attribute__((visibility("hidden"))); /* an empty one ends it */
extern void *forward_to[] __attribute__((visibility("hidden")));

static void *simulator(void)
{
    char path[4096];
    Dl_info info;
    const char *end = dladdr(forward_names, &info) ? strrchr(info.dli_fname, '/') : NULL;

    if (!end)
        return NULL;
    snprintf(path, sizeof path, "%.*s/../libcudart-sim.so", (int) (end - info.dli_fname),
             info.dli_fname);
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static void missing(void)
{
    fputs("libcuda.so.1: the folder above it lacks libcudart-sim.so of the same version\n", stderr);
    abort();
}

/* The program's first library with the call, which is the one whose runtime it uses. */
static void *first(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    Dl_info own, other;

    if (found && dladdr(forward_names, &own) && dladdr(found, &other) &&
        own.dli_fbase != other.dli_fbase)
        return found;
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void find_calls(void)
{
    void *library = NULL;
    int i = 0;

    for (const char *name = forward_names; *name; name += strlen(name) + 1, i++) {
        void *found = first(name);
        if (!found && !library)
            library = simulator();
        if (!found && library)
            found = dlsym(library, name);
        forward_to[i] = found ? found : (void *) (uintptr_t) missing;
    }
}
