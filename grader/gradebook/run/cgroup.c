/* cgroup.c - kernel-enforced limits for a grading as a whole, where systemd can set them.
 *
 * A cgroup limits all processes of a sandbox together, and can kill them together. An unprivileged
 * user needs a delegated cgroup: systemd creates one for a scope, under the user's own manager or,
 * for root, the system's. `systemd-run --scope` becomes the program that it starts, so the program
 * stays our child. Where that does not work, gradebook/run/limits.c alone enforces the limits.
 */
#include "gradebook/run/cgroup.h"
#include "base/process.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRY_S = 5, SAID_BYTES = 1024 };

/* With these variables systemd-run finds the user's manager. */
static const char *const names[] = { "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS" };
enum { NAMES = sizeof names / sizeof *names };

void cgroup_begin(const Cgroup *cgroup, const Limits *limits, Words *command)
{
    char text[80];

    if (!cgroup->works)
        return;
    words_add(command, "/usr/bin/env");
    words_add(command, "systemd-run");
    if (cgroup->of_user)
        words_add(command, "--user");
    words_add(command, "--scope");
    words_add(command, "--quiet");
    words_add(command, "-p");
    words_add(command, PUT(text, "MemoryMax=%zu", limits->memory_bytes));
    words_add(command, "-p");
    words_add(command, "MemorySwapMax=0");
    words_add(command, "-p");
    words_add(command, PUT(text, "TasksMax=%d", 4 * limits->processes)); /* threads count, too */
    words_add(command, "--");
    words_add(command, "/usr/bin/env");
    for (int i = 0; i < NAMES; i++) {
        words_add(command, "-u");
        words_add(command, names[i]);
    }
}

static bool try_scope(Cgroup *cgroup)
{
    const Limits limits = { (size_t) 64 << 20, 16, 0 };
    Words command = { 0 };
    Program program;
    bool ok;

    cgroup->works = true;
    cgroup_begin(cgroup, &limits, &command);
    words_add(&command, "true");
    ok = program_start(&program, command.word, cgroup->environment.word, "/", TRY_S, SAID_BYTES,
                       SAID_BYTES);
    while (ok && !program_over(&program))
        program_wait((Program *const[]){ &program }, 1, 1);
    ok = ok && !program.late && program.status == 0;
    program_free(&program);
    words_free(&command);
    return ok;
}

void cgroup_open(Cgroup *cgroup, const Words *environment)
{
    char text[600];

    *cgroup = (Cgroup){ .of_user = getuid() != 0 };
    for (int i = 0; i < environment->count; i++)
        words_add(&cgroup->environment, environment->word[i]);
    for (int i = 0; i < NAMES; i++)
        if (getenv(names[i]))
            words_add(&cgroup->environment, PUT(text, "%s=%s", names[i], getenv(names[i])));
    cgroup->works = try_scope(cgroup);
}

void cgroup_close(Cgroup *cgroup)
{
    words_free(&cgroup->environment);
}
