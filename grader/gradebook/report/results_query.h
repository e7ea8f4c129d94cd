/* results_query.h - the results: one row per student and lab. */
#ifndef GRADEBOOK_REPORT_RESULTS_QUERY_H
#define GRADEBOOK_REPORT_RESULTS_QUERY_H

#include "gradebook/store/store.h"
#include "base/marks.h"

/* The columns of a result, one per line: kind, field and SQL. The struct, the query, the reader and
 * the copy of the texts are all generated from this list. */
#define ROW_COLUMNS(WHOLE, REAL, FLAG, TEXT)                                                       \
    WHOLE(student, "st.id") /* rows of one student follow each other */                            \
    TEXT(name, "st.name")                                                                          \
    TEXT(number, "st.number")                                                                      \
    TEXT(lab, "labs.lab")                                                                          \
    TEXT(state, SQL_STATE) /* a verdict; or missing, queued, not graded (a machine error) */       \
    FLAG(graded, "v.verdict IS NOT NULL")                                                          \
    FLAG(has_ratio, "v.ratio IS NOT NULL")                                                         \
    REAL(ratio, "v.ratio")                                                                         \
    TEXT(why, SQL_WHY)                                                                             \
    TEXT(note, "v.note")                                                                           \
    TEXT(flag, "v.flag")                                                                           \
    FLAG(late, "s.late")                                                                           \
    FLAG(predicted, "c.predicted")                                                                 \
    WHOLE(sent, "h.at")               /* seconds since 1970; 0: unknown */                         \
    WHOLE(first_sent, SQL_FIRST_SENT) /* when this kernel was first submitted; 0: unknown */       \
    TEXT(source, "s.source")          /* of the submission that counts */                          \
    TEXT(path, "c.path")              /* of the kernel in it */                                    \
    WHOLE(kernel, "c.kernel")         /* equal for identical kernels; 0: none */                   \
    WHOLE(same, "t.n - 1")            /* number of other students with the same kernel */          \
    WHOLE(attempts, "p.attempts")                                                                  \
    WHOLE(attempt, "a.id") /* whose figures count; 0: none */                                      \
    TEXT(device, "v.device")                                                                       \
    TEXT(uuid, "v.uuid")                                                                           \
    TEXT(simulated, "v.simulated")                                                                 \
    TEXT(driver, "v.driver")                                                                       \
    TEXT(nvcc, "v.nvcc")                                                                           \
    TEXT(version, "v.version")                                                                     \
    TEXT(protocol, "v.protocol")                                                                   \
    TEXT(seed, "v.seed")                                                                           \
    TEXT(source_hash, "v.source_hash")                                                             \
    TEXT(quiz, "qp.quiz") /* the text of quiz.txt; "": none */                                     \
    TEXT(lab_hash, "v.lab_hash")                                                                   \
    TEXT(at, "a.began")                                                                            \
    TEXT(log, "a.log")                                                                             \
    TEXT(roster_id, "m.number") /* from the roster, as are the next two; or "" */                  \
    TEXT(email, "m.email")                                                                         \
    TEXT(section, "m.section")                                                                     \
    TEXT(roster, "st.roster") /* "" (no roster, or found there), unknown, unclear, absent          \
                               * (nothing submitted; `student` is then negative) */

#define ROW_WHOLE(field, sql) int64_t field;
#define ROW_REAL(field, sql)  double field;
#define ROW_FLAG(field, sql)  bool field;
#define ROW_TEXT(field, sql)  const char *field;

typedef struct Row {
    ROW_COLUMNS(ROW_WHOLE, ROW_REAL, ROW_FLAG, ROW_TEXT)
    bool has_marks;
    double marks; /* by the current course file, after deductions for lateness */
    Marks earned; /* the same, with the marks before lateness, the reason, and the delay */
    int quiz_asked, quiz_right; /* about the kernel; asked 0: the course does not ask, or no pass */
    double weight; /* of the lab in the total: marks_add(&total, row.weight, &row.earned) */
} Row;

/* Students by name, labs in order, including people on the roster who submitted nothing. Texts are
 * valid until the next row. */
sqlite3_stmt *rows_ask(Store *store);
bool rows_next(Store *store, sqlite3_stmt *rows, Row *row);

const char *row_date(int64_t seconds, char text[32]); /* UTC; "" for an unknown time */

/* Remarks about a student's latest submissions: source, kind, entry, sentence. */
sqlite3_stmt *remarks_ask(Store *store, int64_t student);

#endif
