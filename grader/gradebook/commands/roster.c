/* roster.c - the command that reads the roster of the course. */
#include "gradebook/commands/command.h"
#include "gradebook/store/import_roster.h"

#include <stdio.h>
#include <stdlib.h>

int command_roster(Options *options)
{
    Store store;
    char *mistakes;
    int count, status = COULD_NOT;

    if (!options->words[0])
        return say(USAGE, "missing roster FILE: gradebook import-roster FILE.csv --out DIR");
    if (!store_open(&store, options->out, true)) {
        say(0, "%s", store.problem);
    } else if (!import_roster(&store, options->words[0], &count, &mistakes)) {
        status = say(USAGE, "the roster has errors; nothing was imported:");
        fprintf(stderr, "%s", mistakes);
        free(mistakes);
    } else {
        fprintf(stderr,
                "%d people imported. To list students without a submission: gradebook report --out "
                "%s\n",
                count, options->out);
        print_open_people(&store, options);
        status = DONE;
    }
    store_close(&store);
    return status;
}
