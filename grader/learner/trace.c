/* trace.c - `warpbook explain LAB --trace FILE`. */
#include "learner/trace.h"
#include "base/text.h"
#include "draw/collect.h"

#include <stdio.h>

bool trace_kernel(Session *session, const LabEntry *entry, const char *source, const Case *asked,
                  const char *path)
{
    static char why[COLLECT_WHY];
    const Case *lab_case = asked ? asked : collect_choose_case(entry->lab, NULL);
    CollectJob job = { .session = session, .entry = entry, .source = source, .shown = source };
    char text[PATH + 400];
    Case sized;

    if (!lab_case) {
        fprintf(stderr, "warpbook: --trace: this lab has no case that is timed\n");
        return false;
    }
    sized = collect_case(lab_case, &session->gpu);
    job.lab_case = &sized;
    if (!collect_trace(&job, path, why)) {
        session_clear_line();
        fprintf(stderr, "warpbook: --trace: %s\n", why);
        return false;
    }
    session_clear_line();
    PUT(text,
        "\nThe trace of your kernel in case %s is in %s: open it at https://ui.perfetto.dev, which "
        "reads it in your browser.",
        lab_case->label, path);
    print_wrapped(text, 0, 80);
    return true;
}
