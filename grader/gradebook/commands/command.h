/* command.h - the commands of gradebook, by file, and what they share. A command returns its exit
 * status. */
#ifndef GRADEBOOK_COMMANDS_COMMAND_H
#define GRADEBOOK_COMMANDS_COMMAND_H

#include "gradebook/options.h"
#include "gradebook/report/filter.h"
#include "gradebook/store/store.h"

enum { DONE = 0, USAGE = 2, COULD_NOT = 3, STOPPED = 130 };

int command_grade(Options *options);   /* grade.c */
int command_regrade(Options *options); /* regrade.c */
int command_imports(Options *options); /* imports.c */
int command_roster(Options *options);  /* roster.c */
int command_match(Options *options);   /* match.c */
int command_decide(Options *options);  /* decide.c */
int command_extend(Options *options);
int command_excuse(Options *options);
int command_waiting(Options *options);
int command_history(Options *options);
int command_status(Options *options); /* report.c */
int command_report(Options *options);
int command_export(Options *options);
int command_publish(Options *options); /* publish.c */
int command_doctor(Options *options);  /* housekeeping.c */
int command_devices(Options *options);
int command_backup(Options *options);
int command_rebuild(Options *options);
int command_check_course(Options *options); /* check_course.c */

/* Prints "gradebook: " and the message to standard error, and returns `status`. */
int say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Who acts: --author, or the login name. */
const char *author_of(const Options *options);

/* Prints how many students are not identified, if any. */
void print_open_people(Store *store, const Options *options);

/* Loads the course file. Without --devices, its device is used. Prints mistakes. */
bool take_course(Store *store, Options *options);

/* Reads a course file without a gradebook; the caller frees *text. Prints mistakes. */
bool read_course(const char *path, Course *course, char **text);

/* The students and labs that the options name (report.c). Returns false, after printing why, if no
 * person or several people match. */
bool filter_of(Store *store, const Options *options, Filter *filter);

/* Opens the gradebook for reading, loads the course file, and calls `show_it`. */
int command_reading(Options *options, void (*show_it)(Store *store));

#endif
