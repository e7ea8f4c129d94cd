/* help.h - what --help prints: all commands, or the options of one. */
#ifndef GRADEBOOK_HELP_H
#define GRADEBOOK_HELP_H

#include "gradebook/options.h"

#include <stdio.h>

/* One line per command, in groups. The last command has no name. */
void help_commands(FILE *to, const Command commands[]);

/* What the command does, and its options. */
void help_command(FILE *to, const Command *command);

#endif
