/* export_csv.c - exports all results, and all pairs of similar kernels, for spreadsheets: RFC 4180
 * with a byte-order mark, which some spreadsheets need to recognise UTF-8. */
#include "gradebook/report/csv.h"
#include "gradebook/report/formats.h"
#include "gradebook/report/similarity.h"

#include <string.h>

enum { NAMES_BYTES = 4000 };

/* One row per student: the marks of each lab, which are empty while they are open, and the total of
 * the labs marked so far. */
void export_marks(Export *export)
{
    const ResultsTable *results = &export->results;

    fputs("\xEF\xBB\xBFid,name,email,section,", export->to);
    for (int i = 0; i < results->lab_count; i++)
        csv_text(export->to, results->labs[i]);
    fputs("total,open\r\n", export->to);
    for (int i = 0; i < results->count; i++) {
        const Student *student = &results->students[i];
        const Row *first = student->labs;
        const Total total = results_total(results, student);
        csv_text(export->to, *first->roster_id ? first->roster_id : student->number);
        csv_text(export->to, student->name);
        csv_text(export->to, first->email);
        csv_text(export->to, first->section);
        for (int lab = 0; lab < results->lab_count; lab++)
            csv_number(export->to, first[lab].has_marks, "%.1f", first[lab].marks);
        csv_number(export->to, total.weight > 0, "%.1f", marks_total(&total));
        fprintf(export->to, "%d\r\n", total.open);
    }
}

void export_csv(Export *export)
{
    FILE *to = export->to;
    char sent[32];

    fputs("\xEF\xBB\xBF"
          "student,number,lab,state,marks,ratio,why,note,flag,late,handed_in,source,predictions,"
          "kernel,same_as_others,attempts,device,simulated,driver,protocol,seed,graded_at,log,"
          "whole,marks_why,late_s,weight,quiz_right,quiz_asked,section,email,roster_id,roster,"
          "status,decided,decided_by,decided_note,extended,late_days,excused\r\n",
          to);
    for (int i = 0; i < export->results.row_count; i++) {
        const Row *row = &export->results.rows[i];
        csv_text(to, row->name);
        csv_text(to, row->number);
        csv_text(to, row->lab);
        csv_text(to, row_state(row));
        csv_number(to, row->has_marks, "%.1f", row->marks);
        csv_number(to, row->has_ratio, "%.5f", row->ratio);
        csv_text(to, row->why);
        csv_text(to, row->note);
        csv_text(to, row->flag);
        csv_text(to, row->late ? "yes" : "");
        csv_text(to, row_date(row->sent, sent));
        csv_text(to, row->source);
        csv_text(to, row->predicted ? "yes" : "");
        csv_number(to, row->kernel != 0, "%.0f", (double) row->kernel);
        csv_number(to, row->kernel != 0, "%.0f", (double) row->same);
        csv_number(to, row->kernel != 0, "%.0f", (double) row->attempts);
        csv_text(to, row->device);
        csv_text(to, *row->simulated ? "yes" : "");
        csv_text(to, row->driver);
        csv_text(to, row->protocol);
        csv_text(to, row->seed);
        csv_text(to, row->at);
        csv_text(to, row->log);
        csv_number(to, row->earned.known, "%.1f", row->earned.whole);
        csv_text(to, row->earned.why);
        csv_number(to, row->earned.late_s > 0, "%.0f", (double) row->earned.late_s);
        csv_number(to, true, "%g", row->weight);
        csv_number(to, row->quiz_asked > 0, "%.0f", row->quiz_right);
        csv_number(to, row->quiz_asked > 0, "%.0f", row->quiz_asked);
        csv_text(to, row->section);
        csv_text(to, row->email);
        csv_text(to, row->roster_id);
        csv_text(to, row->roster);
        csv_text(to, row->status);
        csv_text(to, row->decided);
        csv_text(to, row->decided_by);
        csv_text(to, row->decided_note);
        csv_text(to, row->extended);
        csv_number(to, row->late_days > 0, "%.0f", (double) row->late_days);
        csv_last(to, row->excused ? row->excused_note : "");
    }
}

/* True if the filter takes a student with this kernel. */
static bool is_of_student(const Export *export, const char *lab, const ComparedKernel *kernel)
{
    for (int i = 0; i < export->results.row_count; i++) {
        const Row *row = &export->results.rows[i];
        if (row->kernel == kernel->kernel && kernel->kernel && !strcmp(row->lab, lab) &&
            filter_takes_student(&export->options->filter, row))
            return true;
    }
    return false;
}

static void write_pairs(Export *export, const char *lab, const Similarity *s,
                        const Likenesses *found)
{
    char names[NAMES_BYTES];

    for (int i = 0; i < found->count; i++) {
        const Likeness *pair = &found->list[i];
        if (!is_of_student(export, lab, &s->kernels[pair->a]) &&
            !is_of_student(export, lab, &s->kernels[pair->b]))
            continue;
        csv_text(export->to, lab);
        csv_number(export->to, true, "%.0f", pair->percent);
        csv_text(export->to, similarity_names(&export->results, lab, &s->kernels[pair->a], names,
                                              sizeof names));
        csv_last(export->to, similarity_names(&export->results, lab, &s->kernels[pair->b], names,
                                              sizeof names));
    }
}

void export_alike(Export *export)
{
    fputs("\xEF\xBB\xBF"
          "lab,percent,one,other\r\n",
          export->to);
    for (int lab = 0; lab < export->results.lab_count; lab++) {
        const char *name = export->results.labs[lab];
        Similarity s;
        similarity_find(export->store, name, &s);
        if (s.found.problem[0])
            fprintf(stderr, "%s: not compared: %s.\n", name, s.found.problem);
        write_pairs(export, name, &s, &s.found.fixed);
        write_pairs(export, name, &s, &s.found.pairs);
        similarity_free(&s);
    }
}
