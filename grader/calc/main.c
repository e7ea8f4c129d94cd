/* main.c - `warpbook calc NAME --input VALUE...`: the formulas of calc.h with numbers. */
#include "calc/main.h"
#include "calc/calculators.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

enum { DONE = 0, USAGE = 2, MOST_WORDS = 32 };

static const Calculator *const calculators[] = {
    &sectors_calculator,  &banks_calculator,  &occupancy_calculator,
    &waves_calculator,    &little_calculator, &ilp_calculator,
    &roofline_calculator, &amdahl_calculator, &overlap_calculator,
};
enum { CALCULATORS = sizeof calculators / sizeof *calculators };

static void print_list(FILE *out)
{
    fputs("usage: warpbook calc NAME --input VALUE...\n\n", out);
    for (int i = 0; i < CALCULATORS; i++)
        fprintf(out, "  %-10s %s\n", calculators[i]->name, calculators[i]->what);
    fputs("\nEach shows its working. warpbook calc NAME --help explains it with an example.\n",
          out);
}

static bool show_example(const Calculator *calculator)
{
    Asked asked = { .calculator = calculator };
    char text[200], *words[MOST_WORDS + 1]; /* words[0]: the calculator's name */
    int count = 1;

    PUT(text, "%s", calculator->example);
    for (char *word = strtok(text, " "); word && count <= MOST_WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    words[0] = (char *) calculator->name;
    return calc_ask(&asked, count, words) && calculator->show(&asked);
}

static bool print_help(const Calculator *calculator)
{
    char word[40];

    printf("warpbook calc %s: %s.\n%s%s\n", calculator->name, calculator->what,
           *calculator->about ? "\n" : "", calculator->about);
    for (const Input *input = calculator->inputs; input->name; input++) {
        PUT(word, "--%s%s", input->name, input->kind == FLAG ? "" : " N");
        printf("  %-14s %s", word, input->what);
        if (input->optional && input->kind != FLAG && input->fallback)
            printf(" [%g]", input->fallback);
        printf("\n");
    }
    if (calculator->has_device)
        printf("  %-14s take the figures of a described GPU: sim:t4, or a path%s\n",
               "--device NAME", calculator->needs_device ? "" : " [none]");
    printf("\nExample:\n  warpbook calc %s %s\n\n", calculator->name, calculator->example);
    return show_example(calculator);
}

int calc_run(int argc, char **argv)
{
    static Asked asked;
    bool help = !argc || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h");

    asked = (Asked){ 0 };
    if (help) {
        print_list(stdout);
        return DONE;
    }
    for (int i = 0; i < CALCULATORS; i++)
        if (!strcmp(argv[0], calculators[i]->name))
            asked.calculator = calculators[i];
    if (!asked.calculator) {
        fprintf(stderr, "warpbook: there is no calculator %.60s; there are:\n\n", argv[0]);
        print_list(stderr);
        return USAGE;
    }
    if (!calc_ask(&asked, argc, argv))
        return USAGE;
    return (asked.help ? print_help(asked.calculator) : asked.calculator->show(&asked)) ? DONE
                                                                                        : USAGE;
}
