/* help.c - what --help prints, from the tables of commands (main.c) and options (options.c). */
#include "gradebook/help.h"
#include "base/text.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 26 };

/* A name, and its explanation in a column of its own, which begins on the next line if the name is
 * too long. */
static void print_row(FILE *to, const char *name, const char *text)
{
    char *wrapped = NULL;
    size_t bytes = 0;
    FILE *memory = text_open(&wrapped, &bytes);
    bool fits = strlen(name) + 4 <= INDENT;

    print_wrapped_to(memory, text, INDENT, WIDTH);
    text_close(memory);
    if (fits && bytes > INDENT)
        fprintf(to, "  %-*s%s", INDENT - 2, name, wrapped + INDENT);
    else
        fprintf(to, "  %s\n%s", name, wrapped);
    free(wrapped);
}

void help_commands(FILE *to, const Command commands[])
{
    char name[100];

    fputs("usage: gradebook COMMAND --out DIR [OPTION...]\n"
          "       gradebook COMMAND --help: what the command does, and its options\n",
          to);
    for (const Command *command = commands; command->name; command++) {
        if (command->group)
            fprintf(to, "\n%s\n", command->group);
        PUT(name, "%s%s%s", command->name, *command->word_names ? " " : "", command->word_names);
        print_row(to, name, command->help ? command->help : "");
    }
    fputs("\n"
          "DIR is the folder of the gradebook: its database, logs and builds.\n"
          "Exit status: 0 done, 2 wrong usage, 3 something failed or could not be graded,\n"
          "130 stopped by Ctrl-C. Guide: docs/instructors.md\n",
          to);
}

void help_command(FILE *to, const Command *command)
{
    char name[100];

    fprintf(to, "usage: gradebook %s%s%s%s [OPTION...]\n\n", command->name,
            *command->word_names ? " " : "", command->word_names,
            command->no_out ? "" : " --out DIR");
    print_wrapped_to(to, command->help ? command->help : "", 0, WIDTH);
    if (command->details) {
        fputc('\n', to);
        print_wrapped_to(to, command->details, 0, WIDTH);
    }
    fputc('\n', to);
    for (const GradebookOption *row = gradebook_options; row->name; row++)
        if (command_takes(command, row->name))
            print_row(to,
                      PUT(name, "--%s%s%s", row->name, row->has_value ? " " : "",
                          row->has_value && row->value ? row->value : ""),
                      row->text ? row->text : "");
}
