/* results_query.h - the results: one row per person (store/people.h) and lab. */
#ifndef GRADEBOOK_REPORT_RESULTS_QUERY_H
#define GRADEBOOK_REPORT_RESULTS_QUERY_H

#include "gradebook/store/store.h"
#include "base/marks.h"

/* The columns of a result, one per line: kind, field and SQL. The struct, the query, the reader and
 * the copy of the texts are all generated from this list. */
#define ROW_COLUMNS(WHOLE, REAL, FLAG, TEXT)                                                       \
    WHOLE(student, "st.id") /* temp.people's id; rows of one person follow each other */           \
    TEXT(name, "st.name")                                                                          \
    TEXT(number, "st.number")                                                                      \
    TEXT(lab, "labs.lab")                                                                          \
    TEXT(state, SQL_STATE) /* a verdict; or missing, withdrawn, unreadable, queued, not graded */  \
    FLAG(graded, "v.verdict IS NOT NULL")                                                          \
    FLAG(has_ratio, "v.ratio IS NOT NULL")                                                         \
    REAL(ratio, "v.ratio")                                                                         \
    TEXT(why, SQL_WHY)                                                                             \
    TEXT(note, SQL_NOTE)                                                                           \
    TEXT(flag, SQL_FLAG) /* separated by line ends; with "quick" if graded with --quick */         \
    FLAG(late, "s.late")                                                                           \
    FLAG(predicted, "c.predicted")                                                                 \
    WHOLE(sent, "c.at")               /* seconds since 1970; 0: unknown */                         \
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
    TEXT(roster_id, "m.number") /* from the roster, as is the section; or "" */                    \
    TEXT(email, "st.email")     /* or the learning system's */                                     \
    TEXT(section, "m.section")                                                                     \
    TEXT(roster, "st.state")  /* "" (no roster, or found there), unknown, unclear, absent          \
                               * (nothing submitted; `student` is then negative) */                \
    TEXT(status, "st.status") /* active, withdrawn or audit */                                     \
    TEXT(key, "st.key")       /* stays valid after later imports */                                \
    TEXT(decided, "dm.value") /* by a person: pass, zero or marks; "": nothing */                  \
    TEXT(decided_by, "dm.author")                                                                  \
    TEXT(decided_at, "dm.at")                                                                      \
    TEXT(decided_note, "dm.note")                                                                  \
    FLAG(decided_before, "dm.id IS NOT NULL AND dm.kernel IS NOT c.kernel") /* another kernel */   \
    TEXT(extended, "dx.value") /* 2d, or a time; "": no extension */                               \
    TEXT(extended_note, "dx.note")                                                                 \
    FLAG(excused, "de.id IS NOT NULL")                                                             \
    TEXT(excused_note, "de.note")                                                                  \
    WHOLE(late_days, "coalesce(ld.days, 0)") /* of the budget, used for this lab */                \
    WHOLE(late_days_used, SQL_LATE_DAYS)     /* for all labs */

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
    bool is_late;  /* after grace and extension; or marked late, and the time is unknown */
    double weight; /* of the lab in the total: marks_add(&total, row.weight, &row.earned) */
} Row;

/* Students by name, labs in order, including people on the roster who submitted nothing. Texts are
 * valid until the next row. */
sqlite3_stmt *rows_ask(Store *store);
bool rows_next(Store *store, sqlite3_stmt *rows, Row *row);

const char *row_date(int64_t seconds, char text[32]); /* UTC; "" for an unknown time */

/* Remarks about a person's submissions in the imports that count: source, kind, entry, sentence. */
sqlite3_stmt *remarks_ask(Store *store, int64_t person);

#endif
