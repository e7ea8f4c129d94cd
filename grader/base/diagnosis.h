/* diagnosis.h - what a grading found, as data: codes, the case, and the numbers that belong to
 * them.
 *
 * The code that detects a fault sets the code for it. Sentences are built from codes and numbers;
 * no part of the grader parses a sentence. The words are stable output for programs
 * (docs/lines.md, key `saw`), and a lab's remedies use them as keys (common/lab.h).
 */
#ifndef BASE_DIAGNOSIS_H
#define BASE_DIAGNOSIS_H

#include "base/verdict.h"

#define WITH(verdict) (1u << (verdict))

/* X(code, word, verdicts it can come with, clause of a hint). */
#define DIAGNOSIS_CODES(X)                                                                         \
    /* a counter of the lab's mechanism exceeds its limit; in the order of lab.h's Counter */      \
    X(SAW_SECTORS_READ, "sectors_read", WITH(SLOW), "memory is read in too many sectors")          \
    X(SAW_SECTORS_WRITTEN, "sectors_written", WITH(SLOW), "memory is written in too many sectors") \
    X(SAW_SHARED_WAVEFRONTS, "shared_wavefronts", WITH(SLOW),                                      \
      "shared memory takes too many wavefronts")                                                   \
    X(SAW_WARP_BARRIERS, "warp_barriers", WITH(SLOW), "a warp waits at too many barriers")         \
    X(SAW_WARP_ATOMICS, "warp_atomics", WITH(SLOW), "too many updates by atomics")                 \
    X(SAW_LOADS_PER_FMA, "loads_an_fma", WITH(SLOW), "too many loads per multiply-add")            \
    X(SAW_IDLE_LANES, "idle_lanes", WITH(SLOW), "most lanes are idle")                             \
    /* no bound is missed, but the kernel does without what the lab's first bound counts */        \
    X(SAW_NO_SHARED, "no_shared", WITH(SLOW), "shared memory is not used")                         \
    X(SAW_IDLE_GPU, "idle_gpu", WITH(SLOW) | WITH(CORRECT_ONLY), "nothing ran on the GPU")         \
    /* why the speed of a case is not judged */                                                    \
    X(SAW_NOISY, "noisy", WITH(CORRECT_ONLY), "the machine was too noisy")                         \
    X(SAW_DISTURBED, "disturbed", WITH(CORRECT_ONLY), "the measurement was disturbed")             \
    X(SAW_FAR_BELOW, "far_below", WITH(CORRECT_ONLY), "a timed case is already far below its bar") \
    X(SAW_NO_SIZE, "no_size", WITH(CORRECT_ONLY), "no size of the case can be timed")              \
    X(SAW_TOO_LARGE, "too_large", WITH(CORRECT_ONLY), "the case is too large to simulate")         \
    X(SAW_UNTIMED, "untimed", WITH(CORRECT_ONLY), "a launch has no modelled time")                 \
    X(SAW_BLIND, "blind", WITH(CORRECT_ONLY), "not even rung 1 is slow on this device")            \
    /* where the wrong elements are */                                                             \
    X(SAW_TAIL, "tail", WITH(WRONG), "the tail")                                                   \
    X(SAW_RIGHT_EDGE, "right_edge", WITH(WRONG), "the columns at the right edge")                  \
    X(SAW_OUTSIDE_CORNER, "outside_corner", WITH(WRONG), "all but one corner")                     \
    X(SAW_ONE_COLUMN, "one_column", WITH(WRONG), "one column")                                     \
    X(SAW_EVERY_NTH, "every_nth", WITH(WRONG), "elements at a fixed stride")                       \
    /* what values they hold */                                                                    \
    X(SAW_UNWRITTEN, "unwritten", WITH(WRONG), "never written")                                    \
    X(SAW_ZERO, "zero", WITH(WRONG), "zero")                                                       \
    X(SAW_NOT_FINITE, "not_finite", WITH(WRONG), "NaN or infinite")                                \
    X(SAW_CONSTANT, "constant", WITH(WRONG), "all the same value")                                 \
    X(SAW_COPIED, "copied", WITH(WRONG), "copied from the input")                                  \
    X(SAW_ROW_SHIFTED, "row_shifted", WITH(WRONG), "values of a neighbouring row")                 \
    X(SAW_SHIFTED, "shifted", WITH(WRONG), "shifted")                                              \
    X(SAW_TRANSPOSED, "transposed", WITH(WRONG), "rows and columns swapped")                       \
    X(SAW_BY_TILES, "by_tiles", WITH(WRONG), "tiles only half transposed")                         \
    X(SAW_MULTIPLE, "multiple", WITH(WRONG), "a multiple")                                         \
    X(SAW_OFFSET, "offset", WITH(WRONG), "off by the same number")                                 \
    /* when they are wrong */                                                                      \
    X(SAW_FIRST_CALL, "first_call", WITH(WRONG), "right only as a first call")                     \
    /* what a simulated GPU reports, and what makes a kernel fail */                               \
    X(SAW_RACE, "race", WITH(UNSAFE), "a race")                                                    \
    X(SAW_UNINITIALISED, "uninitialised", WITH(UNSAFE), "a read of memory that was never written") \
    X(SAW_OUT_OF_BOUNDS, "out_of_bounds", WITH(UNSAFE) | WITH(STRAY), "an access out of bounds")   \
    X(SAW_BARRIER, "barrier", WITH(UNSAFE), "a barrier that not all threads reach")                \
    X(SAW_SHUFFLE, "shuffle", WITH(UNSAFE), "a shuffle that not all lanes reach")                  \
    X(SAW_RETURNED, "returned", WITH(UNSAFE), "it returned before its work was done")              \
    X(SAW_INPUT, "input", WITH(STRAY), "an input was changed")                                     \
    X(SAW_LAUNCH, "launch", WITH(CRASH), "a launch failed")                                        \
    X(SAW_MISALIGNED, "misaligned", WITH(CRASH), "a misaligned address")                           \
    X(SAW_ILLEGAL, "illegal", WITH(CRASH), "an illegal access")                                    \
    X(SAW_HOST_POINTER, "host_pointer", WITH(CRASH), "a host pointer")                             \
    X(SAW_LOAD, "load", WITH(CRASH), "the kernel could not be loaded")                             \
    X(SAW_SIGNAL, "signal", WITH(CRASH), "its process was killed by a signal")                     \
    X(SAW_EXITED, "exited", WITH(CRASH), "its process exited")                                     \
    X(SAW_HOST_MEMORY, "host_memory", WITH(CRASH), "too much host memory")                         \
    X(SAW_DEVICE_MEMORY, "device_memory", WITH(CRASH) | WITH(CORRECT_ONLY), "too much GPU memory") \
    X(SAW_NO_ANSWER, "no_answer", WITH(TIMEOUT), "no answer within the time limit")                \
    X(SAW_ENDLESS, "endless", WITH(TIMEOUT), "a kernel that never ends")                           \
    /* why a result is not trusted */                                                              \
    X(SAW_OUT_OF_TURN, "out_of_turn", WITH(SUSPECT), "output that no command requested")           \
    X(SAW_UNTAGGED, "untagged", WITH(SUSPECT), "an answer without its tag")                        \
    X(SAW_GARBAGE, "garbage", WITH(SUSPECT), "an invalid answer")                                  \
    X(SAW_CLOSED_CHANNEL, "closed_channel", WITH(SUSPECT), "a closed channel")                     \
    X(SAW_TOO_FAST, "too_fast", WITH(SUSPECT), "faster than the GPU's memory")                     \
    X(SAW_SLOWED_REFERENCE, "slowed_reference", WITH(SUSPECT), "the reference was slowed down")    \
    /* why a kernel does not build */                                                              \
    X(SAW_COMPILER, "compiler", WITH(BUILD), "compiler errors")                                    \
    X(SAW_COMPILE_TIME, "compile_time", WITH(BUILD), "it takes too long to compile")               \
    X(SAW_LINKER, "linker", WITH(BUILD), "it does not link")                                       \
    X(SAW_FILE, "file", WITH(BUILD), "the source file cannot be used")                             \
    X(SAW_INCLUDE, "include", WITH(BUILD), "a file outside the lab is included")                   \
    X(SAW_FORBIDDEN, "forbidden", WITH(BUILD), "it uses what labs do not allow")                   \
    X(SAW_SIZE, "size", WITH(BUILD), "it is too large")

typedef enum DiagnosisCode {
#define DIAGNOSIS_ENUM(code, word, verdicts, clause) code,
    DIAGNOSIS_CODES(DIAGNOSIS_ENUM)
#undef DIAGNOSIS_ENUM
        DIAGNOSIS_COUNT
} DiagnosisCode;

#define SAW(code) (1ull << (code))

_Static_assert(DIAGNOSIS_COUNT <= 64, "Diagnosis.saw has one bit for each code");

typedef struct Diagnosis {
    uint64_t saw;         /* SAW(code) | ... */
    const Case *lab_case; /* the lab's row; NULL: not about one case */
    uint64_t slow_cases;  /* slow: bit i: row i of lab.cases is below its bar; 0: unknown */
    /* Wrong results: the first wrong element of this output, and its values. */
    char array[16]; /* the name in kernel.h; "": not about an array */
    size_t element, wrong, compared;
    double got, want;
    /* A counter: its value relative to the minimum, the lab's limit for that, the count per
     * request, and the line of kernel.cu that contributes most (0: unknown).
     *
     * Other codes use value and limit:
     * SAW_TOO_FAST: GB/s, and the bandwidth. SAW_SLOWED_REFERENCE: by how much, in percent.
     * SAW_NOISY: how much two copies of the reference differ, in percent. SAW_DISTURBED: by how
     * much the GPU became slower, in percent; 0: nearly every sample was disturbed. SAW_NO_SIZE:
     * the limit is the shortest time that can be measured, in ms; 0: the time does not grow.
     * SAW_DEVICE_MEMORY of an unjudged case: GB needed by each side, and GB free. SAW_TOO_LARGE:
     * millions of warp instructions; 0: unknown. SAW_UNTIMED: launches without a time, and all.
     * SAW_BLIND: rung 1's ratio, and the bar. */
    double value, limit, per_request;
    int line;       /* of kernel.cu; 0: unknown */
    int other_line; /* of a race's other access; 0: unknown */
    char text[600]; /* what the simulated GPU found there */
} Diagnosis;

/* Converts codes to words: "tail,unwritten"; "" for none. And words to codes: unknown words, and
 * words that never come with this verdict, are skipped. */
void diagnosis_words(uint64_t saw, char *text, size_t size);
uint64_t diagnosis_bits(const char *words, Verdict verdict);

/* SAW(code) of the word with this length; 0 if it is unknown. */
uint64_t diagnosis_bit(const char *word, size_t length);
uint64_t diagnosis_possible(Verdict verdict); /* all codes that can come with it */
const char *diagnosis_clause(DiagnosisCode code);

/* The codes for a message that CUDA_CHECK printed, recognised by CUDA's own error strings. */
uint64_t diagnosis_printed(const char *printed);

#endif
