/* message.h - describes a grading's observations to the student, in clauses without a full stop. */
#ifndef JUDGE_MESSAGE_H
#define JUDGE_MESSAGE_H

#include "judge/grade.h"

/* For example "in out, row 3, column 5 is NaN, expected 0.5; 12 of 1023 elements checked are
 * wrong". `array` has the shape of the output; `pattern` says how it is wrong, or is "". */
void message_wrong(const Diagnosis *diagnosis, const Array *array, const char *pattern, char *text,
                   size_t size);

/* For example "kernel.cu:24: reads of `in` touch 8.0x the minimum number of 32-byte sectors
 * ...", for the counter that the diagnosis names. */
void message_counter(const Diagnosis *diagnosis, char *text, size_t size);

/* A write to an input, in front of an array (`before`), or past its end. The diagnosis names the
 * array, and the element or the distance in bytes. */
void message_stray(const Diagnosis *diagnosis, bool before, char *text, size_t size);

/* How a child process failed: "its process exited with status 1". */
void message_child(const Child *child, char *text, size_t size);

/* Why a case is slow: its ratio, its rate and its bar. */
void message_slow(const CaseSpeed *speed, bool modelled, char *text, size_t size);

/* A pass within the measurement's interval around the bar. */
void message_close(char *text, size_t size);

/* Nothing ran on the simulated GPU, so there is no ratio. */
void message_idle(const Diagnosis *diagnosis, char *text, size_t size);

/* Launches take most of a slow call: their number, its time, and the share of it in which no kernel
 * runs. */
void message_launches(double launches, double call_ms, double idle, char *text, size_t size);

/* Why the speed of a case is not judged: "case flat: this machine is too noisy now ...";
 * message_why_not without the case; message_left_out appends a sentence to a note;
 * message_counters_only says how the kernel was judged instead (`bounded`: the lab bounds
 * counters). */
void message_unjudged(const Diagnosis *diagnosis, char *text, size_t size);
void message_why_not(const Diagnosis *diagnosis, char *text, size_t size);
void message_left_out(const Diagnosis *diagnosis, char *note, size_t size);
void message_counted(bool passed, char *text, size_t size);
void message_counters_only(const Diagnosis *diagnosis, bool bounded, char *text, size_t size);

/* A pass whose counters exceed a limit of the lab; `counter` is the sentence of message_counter().
 */
void message_above(const char *counter, char *text, size_t size);

/* Appends to a note how many blocks of a case were timed. */
void message_samples(const CaseSpeed *speed, char *note, size_t size);

/* A kernel of the workbook failed, for the reason `why`. */
void message_ours_failed(const char *why, char *text, size_t size);

/* Why a measured result is not trusted: SAW_TOO_FAST, SAW_SLOWED_REFERENCE. */
void message_suspect(const Diagnosis *diagnosis, char *text, size_t size);

/* A place in an array, in the student's terms: "row 3, column 5" or "element 7". */
void message_place(const Array *array, size_t index, char *text, size_t size);

/* The address of an access in shared memory may lie behind the end of a neighbour of the array that
 * the access indexes. If `why` names an array that its line of the source does not name, says so.
 */
void message_neighbour(const char *source, char *why, size_t size);

#endif
