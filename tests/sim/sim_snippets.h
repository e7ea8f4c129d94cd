/* sim_snippets.h - stores the PTX that the tests run as files in the folder SIM_SNIPPETS
 * (environment), which tests/sim/ptxas_accepts.sh compiles with ptxas. */
#ifndef SIM_SIM_SNIPPETS_H
#define SIM_SIM_SNIPPETS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MOST_SNIPPETS
#define MOST_SNIPPETS 2000 /* per suite; more random programs are not needed */
#endif

static inline void snippet_keep(const char *text)
{
    static int count;
    const char *folder = getenv("SIM_SNIPPETS"), *slash = strrchr(__BASE_FILE__, '/');
    char path[4096];

    if (!folder || count >= MOST_SNIPPETS)
        return;
    snprintf(path, sizeof path, "%s/%s.%d.ptx", folder, slash ? slash + 1 : __BASE_FILE__, count++);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
}

#endif
