/* rig.h - what suites of gradebook share: an empty gradebook, and imports into it. */
#ifndef GRADEBOOK_RIG_H
#define GRADEBOOK_RIG_H

#include "base/util.h"
#include "gradebook/store/import_submissions.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

/* Opens an empty gradebook in a new folder; `file`: a path in it. Returns 0, as a suite's set-up
 * does. */
static inline int rig_open(Store *store, char folder[64], char file[80])
{
    put(folder, 64, "/tmp/warpbook-gradebook-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    put(file, 80, "%s/file", folder);
    return !store_open(store, folder, true);
}

static inline int rig_close(Store *store, const char *folder)
{
    store_close(store);
    remove_tree(folder);
    return 0;
}

/* Imports a class of requested labs into the unnamed assignment. */
static inline void import_plainly(Store *store, Class *class, const bool requested[LABS],
                                  ImportCounts *counts)
{
    const ImportRequest request = { .source = "class",
                                    .assignment = "",
                                    .requested = requested,
                                    .labs_named = true,
                                    .replace = true };

    CU_ASSERT_TRUE(import_submissions(store, class, &request, counts));
    free(counts->notes);
    free(counts->losses);
}

#endif
