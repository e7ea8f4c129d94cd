/* access_words.h - describes the bytes of an access in the words of the source: `part[33]`. */
#ifndef SIM_EXEC_ACCESS_WORDS_H
#define SIM_EXEC_ACCESS_WORDS_H

#include "sim/exec/access.h"

/* For example "`part[33]`", "`in[28..31]`", "16 bytes of `tile` from byte 64", or "4 bytes of
 * shared memory at 8580" where no array is known. Elements are as wide as the access of one lane.
 */
void access_words(const Access *access, int lane, char *text, size_t size);

/* The same, with what is wrong: "`part[256]`, but `part` has 256 elements". For an address in
 * shared memory or in an allocation that the lane may not access. Returns false if no array is
 * known. */
bool access_words_outside(const Access *access, int lane, char *text, size_t size);

/* For an address relative to an array with this name. `before`: in front of it. */
bool access_words_element(const Access *access, const char *array, size_t array_bytes,
                          int64_t offset, char *text, size_t size);

#endif
