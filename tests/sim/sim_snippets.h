/* sim_snippets.h - the PTX that the tests run, kept as files: SIM_SNIPPETS=FOLDER in the
 * environment. tests/sim/ptxas_accepts.sh has ptxas read them. */
#ifndef SIM_SIM_SNIPPETS_H
#define SIM_SIM_SNIPPETS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MOST_SNIPPETS
#define MOST_SNIPPETS 2000 /* of one suite; of random programs some are enough */
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
