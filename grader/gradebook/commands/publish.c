/* publish.c - the command that freezes the marks that students see. */
#include "gradebook/commands/command.h"
#include "gradebook/report/publish.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>

/* Prints what changes, and publishes it unless this is a dry run. */
static int publish_results(Store *store, const Options *options)
{
    const Publication publication = { author_of(options), options->note ? options->note : "",
                                      options->visible_from };
    ResultsTable results;
    Filter filter;
    char date[32];
    int count = 0;

    if (!filter_of(store, options, &filter))
        return USAGE;
    results_read(store, &filter, &results);
    if (!results.count)
        return say(USAGE, "no student and lab matches");
    publish_print_changes(store, &results, false, stdout);
    if (!options->dry_run)
        count = publish(store, &results, &publication);
    results_warn_quick(&results);
    results_free(&results);
    if (options->dry_run)
        printf("Nothing was published: this is a dry run.\n");
    else if (options->visible_from)
        printf("%d result%s published; students see them from %s.\n", count, count == 1 ? "" : "s",
               row_date(options->visible_from, date));
    else
        printf("%d result%s published.\n", count, count == 1 ? "" : "s");
    return DONE;
}

int command_publish(Options *options)
{
    Store store;
    int status;

    if (!options->labs_named && !options->lab)
        return say(USAGE, "missing --labs L,L...: the labs whose marks students may see");
    if (!store_open(&store, options->out, !options->dry_run))
        status = say(COULD_NOT, "%s", store.problem);
    else if (!take_course(&store, options))
        status = USAGE;
    else
        status = publish_results(&store, options);
    store_close(&store);
    return status;
}
