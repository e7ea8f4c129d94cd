/* escape.h - writes text from students into the formats of other programs.
 *
 * The text may hold any bytes: names of files, lines of source code, output of kernels. Bytes that
 * are not UTF-8 become U+FFFD (in URIs they are kept, encoded).
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* The length of the UTF-8 character at `at`; 0: invalid. `left`: bytes available. */
size_t utf8_length(const char *at, size_t left);

/* A JSON string with its quotes. */
void write_json(FILE *out, const char *text);

/* Element content or a quoted attribute of XML 1.0, which has no way to write control characters:
 * they become U+FFFD. */
void write_xml(FILE *out, const char *text);

/* A path as a URI reference of ASCII characters; an absolute path becomes file:///... */
void write_uri(FILE *out, const char *path);

/* The data of a workflow command of GitHub Actions, and a property of one. */
void write_github_data(FILE *out, const char *text);
void write_github_property(FILE *out, const char *text);

/* One line: line ends become blanks, and other control characters become '?'. */
void write_one_line(FILE *out, const char *text);

#endif
