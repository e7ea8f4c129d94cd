/* sarif.c - messages as SARIF 2.1.0, the OASIS format for results of static analysis. */
#include "base/annotation.h"
#include "base/escape.h"
#include "base/util.h" /* only for WARPBOOK_VERSION: the simulated GPU links no more of base */

#include <string.h>

static const char *const words[LEVELS] = {
#define LEVEL_WORD(level, sarif, gcc, github) [level] = sarif,
    LEVEL_ROWS(LEVEL_WORD)
#undef LEVEL_WORD
};

void sarif_begin(Sarif *sarif, FILE *out)
{
    *sarif = (Sarif){ .out = out };
    fputs("{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
          "sarif-schema-2.1.0.json\",\n\"version\":\"2.1.0\",\n\"runs\":[{\n\"results\":[",
          out);
}

/* "[text](target)" is a link in a message, and the text may hold what a student wrote. */
static void write_message(FILE *out, const char *text)
{
    char plain[2 * sizeof((Annotation *) 0)->text];
    size_t used = 0;

    for (; *text && used < sizeof plain - 2; text++) {
        plain[used++] = *text;
        if (text[0] == ']' && text[1] == '(')
            plain[used++] = ' ';
    }
    plain[used] = 0;
    fputs("\"message\":{\"text\":", out);
    write_json(out, plain);
    putc('}', out);
}

static void write_location(FILE *out, const char *file, int line, int column)
{
    fputs("\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"", out);
    write_uri(out, file);
    fputs("\"}", out);
    if (line > 0)
        fprintf(out, ",\"region\":{\"startLine\":%d", line);
    if (line > 0 && column > 0)
        fprintf(out, ",\"startColumn\":%d", column);
    fputs(line > 0 ? "}}" : "}", out);
}

static void note_rule(Sarif *sarif, const Annotation *a)
{
    for (int i = 0; i < sarif->rules; i++)
        if (!strcmp(sarif->rule[i].id, a->rule))
            return;
    if (sarif->rules == SARIF_RULES)
        return;
    memcpy(sarif->rule[sarif->rules].id, a->rule, sizeof a->rule);
    sarif->rule[sarif->rules++].meaning = a->meaning;
}

static void keep_notification(Sarif *sarif, const Annotation *a)
{
    if (sarif->notifications == SARIF_NOTIFICATIONS)
        return;
    sarif->notification[sarif->notifications].level = a->level;
    memcpy(sarif->notification[sarif->notifications].rule, a->rule, sizeof a->rule);
    memcpy(sarif->notification[sarif->notifications++].text, a->text, sizeof a->text);
}

void sarif_result(Sarif *sarif, const Annotation *a)
{
    FILE *out = sarif->out;

    if (!a->file) {
        keep_notification(sarif, a);
        return;
    }
    note_rule(sarif, a);
    fprintf(out, "%s\n{\"ruleId\":\"%s\",\"level\":\"%s\",", sarif->results++ ? "," : "", a->rule,
            words[a->level]);
    write_message(out, a->text);
    fputs(",\n \"locations\":[{", out);
    write_location(out, a->file, a->line, a->column);
    fputs("}]", out);
    if (a->other_line) {
        fputs(",\n \"relatedLocations\":[{\"id\":1,", out);
        write_location(out, a->file, a->other_line, 0);
        putc(',', out);
        write_message(out, a->other_text);
        fputs("}]", out);
    }
    putc('}', out);
}

static void write_notifications(const Sarif *sarif)
{
    FILE *out = sarif->out;

    for (int i = 0; i < sarif->notifications; i++) {
        fprintf(out, "%s\n{\"descriptor\":{\"id\":\"%s\"},\"level\":\"%s\",", i ? "," : "",
                sarif->notification[i].rule, words[sarif->notification[i].level]);
        write_message(out, sarif->notification[i].text);
        putc('}', out);
    }
}

void sarif_end(Sarif *sarif, bool successful)
{
    FILE *out = sarif->out;

    fputs("],\n\"tool\":{\"driver\":{\"name\":\"Warpbook\",\"version\":\"" WARPBOOK_VERSION
          "\",\"rules\":[",
          out);
    for (int i = 0; i < sarif->rules; i++) {
        fprintf(out, "%s\n{\"id\":\"%s\",\"shortDescription\":{\"text\":", i ? "," : "",
                sarif->rule[i].id);
        write_json(out, sarif->rule[i].meaning);
        fputs("}}", out);
    }
    fprintf(out, "]}},\n\"invocations\":[{\"executionSuccessful\":%s,",
            successful ? "true" : "false");
    fputs("\"toolExecutionNotifications\":[", out);
    write_notifications(sarif);
    fputs("]}]\n}]}\n", out);
}
