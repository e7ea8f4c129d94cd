/* fake_script.c - reads the script of the scripted runner. */
#include "runner/fake_script.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>

Script script = { .ms = 0.5, .lie_ms = -1, .stop_after = -1, .sectors = 1 };

static void obey(const char *line)
{
    char word[3][16] = { "", "", "" };
    int words = sscanf(line, "%15s %15s %15s", word[0], word[1], word[2]);

    if (words < 1)
        die("an empty directive");
    if (is(word[0], "ms"))
        script.ms = atof(word[1]);
    else if (is(word[0], "ms_case") && atoi(word[1]) >= 0 && atoi(word[1]) < SCRIPT_CASES)
        script.case_ms[atoi(word[1])] = atof(word[2]);
    else if (is(word[0], "lie"))
        script.lie_ms = atof(word[1]);
    else if (is(word[0], "first"))
        script.first_ms = atof(word[1]);
    else if (is(word[0], "lazy")) {
        script.lazy_ms = atof(word[1]);
        script.lazy_loads = atol(word[2]);
    } else if (is(word[0], "wrong"))
        PUT(script.wrong, "%s", word[1]);
    else if (is(word[0], "stray"))
        PUT(script.stray, "%s", word[1]);
    else if (is(word[0], "limited")) {
        PUT(script.limited, "%s", word[1]);
        script.limited_line = atoi(word[2]);
    } else if (is(word[0], "worth")) {
        script.worth_cause = 1u << (atoi(word[1]) & 31);
        script.worth = atof(word[2]);
    } else if (is(word[0], "stop-after"))
        script.stop_after = atol(word[1]);
    else if (is(word[0], "launch-error"))
        script.launch_error = true;
    else if (is(word[0], "kernel-error"))
        script.kernel_error = true;
    else if (is(word[0], "unsafe"))
        script.unsafe = true;
    else if (is(word[0], "limit"))
        script.limit = true;
    else if (is(word[0], "shared"))
        script.shared = true;
    else if (is(word[0], "untimed"))
        script.untimed = true;
    else if (is(word[0], "endless") && atoi(word[1]) >= 0 && atoi(word[1]) < SCRIPT_CASES)
        script.endless[atoi(word[1])] = true;
    else if (is(word[0], "sampled"))
        script.sampled = atoi(word[1]);
    else if (is(word[0], "sectors")) {
        script.sectors = atof(word[1]);
        script.sectors_line = atoi(word[2]);
    } else if (is(word[1], "at") && script.misdeed_count < SCRIPT_MISDEEDS) {
        Misdeed *misdeed = &script.misdeeds[script.misdeed_count++];
        PUT(misdeed->name, "%s", word[0]);
        PUT(misdeed->step, "%s", word[2]);
    } else
        die("fake runner: unknown directive: %.60s", line);
}

void script_read(const char *source)
{
    static const char mark[] = "// fake: ";

    for (const char *at = source; (at = strstr(at, mark));) {
        char line[80];
        at += strlen(mark);
        PUT(line, "%.*s", (int) strcspn(at, "\n"), at);
        obey(line);
    }
}
