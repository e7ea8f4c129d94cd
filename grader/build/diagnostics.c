/* diagnostics.c - reduces a compiler's output to what helps a student.
 *
 * A compiler's output is a sequence of blocks: a head ("kernel.cu(12): error: ...",
 * "kernel.cu:12:5: ...", "ptxas error   : ..."), then indented lines that show the place. The
 * errors in kernel.cu and those of the later stages are kept. Without any of them, the errors in
 * other files are kept; without those, the last line of nvcc; else everything. Warnings, remarks
 * and repetitions (each architecture is compiled separately) are dropped.
 */
#include "build/diagnostics.h"
#include "base/util.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINES = 12, LINE_BYTES = 240, CONTEXT_LINES = 3, SOURCE_NAME = sizeof "kernel.cu" - 1 };

/* What a line is: the head of a block, from the most to the least helpful, or something else. */
typedef enum Kind { OURS, TOOL, OTHER, LAST_WORDS, OTHER_HEAD, CONTEXT, KINDS } Kind;

/* The end of "(12)" or ":12" or ":12:5" and a colon, if `at` begins with that; else NULL. */
static const char *position_end(const char *at)
{
    size_t digits = strspn(at + 1, "0123456789");
    const char *end = at + 1 + digits;

    if (!digits)
        return NULL;
    if (*at == '(')
        return end[0] == ')' && end[1] == ':' ? end + 2 : NULL;
    if (*at != ':' || *end != ':')
        return NULL;
    digits = strspn(end + 1, "0123456789");
    return digits && end[1 + digits] == ':' ? end + 2 + digits : end + 1;
}

/* Finds the "(12):" of a head; `rest` receives the text after it. */
static const char *position(const char *line, const char **rest)
{
    for (const char *at = line; *at; at++)
        if ((*at == '(' || *at == ':') && (*rest = position_end(at)))
            return at;
    return NULL;
}

static Kind kind_of(const char *line)
{
    static const char *const errors[] = { "error", "fatal error", "internal error",
                                          "catastrophic error" };
    const char *rest, *at;

    if (!*line || isspace((unsigned char) *line))
        return CONTEXT;
    if ((at = position(line, &rest))) {
        rest += strspn(rest, " ");
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            if (!strncasecmp(rest, errors[i], strlen(errors[i])))
                return at - line == SOURCE_NAME && !strncmp(line, "kernel.cu", SOURCE_NAME) ? OURS
                                                                                            : OTHER;
        return strstr(rest, "undefined reference") ? TOOL : OTHER_HEAD;
    }
    if (strstr(line, "fatal   :") || !strncmp(line, "collect2:", 9))
        return LAST_WORDS;
    if (strstr(line, "error:") || strstr(line, "error   :"))
        return TOOL;
    return OTHER_HEAD;
}

/* ptxas names kernels as the linker does: '_Z10sum_kernelPfPKfl' becomes 'sum_kernel'. */
static void put_plain_entry(char *line)
{
    char *name = strstr(line, "'_Z"), *end;
    unsigned long length = name ? strtoul(name + 3, &end, 10) : 0;

    if (!length || length >= strlen(end))
        return;
    memmove(name + 1, end, length);
    end += length + strcspn(end + length, "'");
    memmove(name + 1 + length, end, strlen(end) + 1);
}

/* Appends 65568 as "65,568". */
static void append_grouped(char *text, size_t size, unsigned long value)
{
    if (value >= 1000)
        append_grouped(text, size, value / 1000);
    append(text, size, value >= 1000 ? ",%03lu" : "%lu", value % 1000);
}

/* ptxas counts shared memory in hex: "(0x10020 bytes, 0xc000 max)" becomes "(65,568 bytes; at most
 * 49,152)". */
static void put_decimal_bytes(char *line, size_t size)
{
    char *at = strstr(line, "(0x"), rest[LINE_BYTES + 1];
    unsigned long bytes, most;
    int used = 0;

    if (!at || sscanf(at, "(0x%8lx bytes, 0x%8lx max)%n", &bytes, &most, &used) != 2 || !used)
        return;
    PUT(rest, "%s", at + used);
    *at = 0;
    append(line, size, "(");
    append_grouped(line, size, bytes);
    append(line, size, " bytes; at most ");
    append_grouped(line, size, most);
    append(line, size, ")%s", rest);
}

/* Copies a line without parts that mean nothing to a reader: the build's folder, the working
 * folder, the prefix of temporary names, and bytes that would move a terminal's cursor. */
static void clean(char *to, const char *from, size_t length, const char *folder)
{
    char *out = to, *temporary;

    for (size_t i = 0; i < length && out < to + LINE_BYTES; i++) {
        unsigned char c = (unsigned char) from[i];
        size_t inside = strlen(folder);
        if (inside && !strncmp(from + i, folder, inside) && from[i + inside] == '/') {
            i += inside; /* the slash, too */
            continue;
        }
        *out++ = c == '\t' || (c >= ' ' && c != 127) ? (char) c : '?';
    }
    *out = 0;
    put_plain_entry(to);
    put_decimal_bytes(to, LINE_BYTES + 1);
    /* tmpxft_0000281b_00000000-6_kernel.compute_90.ptx, in a folder -> kernel.compute_90.ptx */
    while ((temporary = strstr(to, "tmpxft_"))) {
        char *start = temporary, *name = strchr(temporary, '-');
        name = name ? strchr(name, '_') : NULL;
        if (!name)
            return;
        while (start > to && !strchr(" \"'", start[-1]))
            start--;
        memmove(start, name + 1, strlen(name + 1) + 1);
    }
}

/* kernel.cu(12): -> labs/06_transpose/kernel.cu:12: */
static void rename_head(char *text, size_t size, const char *line, const char *shown)
{
    const char *rest, *at = position(line, &rest);

    if (*at == '(')
        put(text, size, "%s:%.*s:%s", shown, (int) (rest - at - 3), at + 1, rest);
    else
        put(text, size, "%s%s", shown, at);
}

/* Finds the next line of `output` and cleans it. Returns false at the end. */
static bool clean_line(const char **output, const char *folder, char *line)
{
    size_t length = strcspn(*output, "\n");

    if (!**output)
        return false;
    clean(line, *output, length, folder);
    *output += length + ((*output)[length] == '\n');
    return true;
}

/* Chooses the kinds of lines to show. */
static void choose(const char *output, const char *folder, bool shown[KINDS])
{
    size_t count[KINDS] = { 0 };
    char line[LINE_BYTES + 1];

    while (clean_line(&output, folder, line))
        count[kind_of(line)]++;
    memset(shown, 0, KINDS * sizeof *shown);
    if (count[OURS] || count[TOOL])
        shown[OURS] = shown[TOOL] = true;
    else if (count[OTHER])
        shown[OTHER] = true;
    else if (count[LAST_WORDS])
        shown[LAST_WORDS] = true;
    else
        memset(shown, 1, KINDS * sizeof *shown);
}

/* Writes the line as it is shown, including its line end. */
static void write_line(char *text, size_t size, Kind kind, const char *line, const char *shown)
{
    if (kind == OURS)
        rename_head(text, size - 1, line, shown);
    else
        put(text, size - 1, "%s", line);
    if (kind == OURS && strstr(line, "error: expected a \";\""))
        append(text, size - 1, " (often missing at the end of the line before)");
    append(text, size, "\n");
}

void complaint(const char *output, const char *folder, const char *shown, char *text, size_t size)
{
    char line[LINE_BYTES + 1], written[LINE_BYTES + 600];
    bool wanted[KINDS];
    int lines = 0, context = 0, left_out = 0;
    size_t room = size - sizeof "(and 1000000 more)\n";

    text[0] = 0;
    choose(output, folder, wanted);
    while (clean_line(&output, folder, line)) {
        Kind kind = kind_of(line);
        bool head = kind != CONTEXT, fits;
        if (!*line)
            continue;
        if (head) /* text of another file is not shown, because the student may not be allowed to
                     read it */
            context = wanted[kind] && (kind == OURS || kind == TOOL) ? CONTEXT_LINES : 0;
        else if (!strncmp(line + strspn(line, " "), "detected during", 15))
            context = 0;
        if (!wanted[kind] && (head || context-- <= 0))
            continue;
        write_line(written, sizeof written, kind, line, shown);
        if (head && strstr(text, written)) {
            context = 0;
            continue;
        }
        fits = lines < LINES && strlen(text) + strlen(written) < room;
        if (!fits) {
            left_out += head;
            lines = LINES;
            continue;
        }
        append(text, size, "%s", written);
        lines++;
    }
    if (left_out)
        append(text, size, "(and %d more)\n", left_out);
}

bool complaint_is_cut(const char *text)
{
    return strstr(text, "\n(and ") != NULL;
}

/* ---- Errors as data ---- */

/* kernel.cu(12): error: text, kernel.cu:12:5: fatal error: text */
static void read_error(const char *line, CompilerError *error)
{
    const char *rest, *at = position(line, &rest);
    const char *text = strchr(rest, ':');

    *error = (CompilerError){ 0 };
    if (sscanf(at, "(%9d)", &error->line) != 1)
        sscanf(at, ":%9d:%9d:", &error->line, &error->column);
    text = text ? text + 1 : rest;
    PUT(error->text, "%s", text + strspn(text, " "));
}

static bool is_known(const CompilerError *errors, int count, const CompilerError *error)
{
    for (int i = 0; i < count; i++)
        if (errors[i].line == error->line && errors[i].column == error->column &&
            !strcmp(errors[i].text, error->text))
            return true;
    return false;
}

int compiler_errors(const char *output, const char *folder, CompilerError *errors, int most)
{
    char line[LINE_BYTES + 1];
    int count = 0;

    while (count < most && clean_line(&output, folder, line)) {
        if (kind_of(line) != OURS)
            continue;
        read_error(line, &errors[count]);
        count += !is_known(errors, count, &errors[count]);
    }
    return count;
}

/* ---- What errors mean ---- */

const char *complaint_meaning(const char *text)
{
    static const struct {
        const char *part, *meaning;
    } rows[] = {
        { "uint3", "threadIdx and blockIdx have three parts: write threadIdx.x, .y or .z." },
        { "dim3", "blockDim, gridDim and other dim3 values have three parts: .x, .y and .z." },
        { "calling a __host__ function",
          "A kernel may only call functions that are declared __device__." },
        { "a __global__ function call must be configured",
          "A kernel is launched: kernel<<<blocks, threads>>>(arguments)." },
        { "a __global__ function must have a void return type",
          "A kernel returns nothing. It writes its results to an array." },
        { "too much shared data",
          "The __shared__ arrays of one block need more memory than the 48 KiB (49,152 bytes) that "
          "a block may declare." },
        { "may not be initialized", "A __shared__ variable has no first value: let a thread write "
                                    "it, then __syncthreads()." },
        { "dynamic initialization is not supported",
          "A __shared__ or __device__ variable has no first value: let a thread write it." },
        { "\"__syncthreads\" is undefined", "__syncthreads() exists only in kernels and __device__ "
                                            "functions." },
        { "\"threadIdx\" is undefined",
          "threadIdx exists only in kernels and __device__ functions." },
        { "\"CUDA_CHECK\" is undefined",
          "CUDA_CHECK and ceil_div come from #include \"cudalab.cuh\"." },
        { "\"ceil_div\" is undefined",
          "CUDA_CHECK and ceil_div come from #include \"cudalab.cuh\"." },
        { "\"LAB_API\"", "LAB_API comes from #include \"kernel.h\"." },
        { "expression must be a modifiable lvalue",
          "The value on the left of = is const: inputs may only be read." },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].part))
            return rows[i].meaning;
    return "";
}

/* ---- Where a name is used ---- */

/* The end of the comment or string that begins here; `at` itself if none does. */
static const char *skip_text(const char *at)
{
    const char *end;

    if (!strncmp(at, "//", 2))
        return at + strcspn(at, "\n");
    if (!strncmp(at, "/*", 2))
        return (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
    if (*at != '"')
        return at;
    for (at++; *at && *at != '"' && *at != '\n'; at++)
        at += *at == '\\' && at[1];
    return at + (*at == '"');
}

static bool is_word(char c)
{
    return isalnum((unsigned char) c) || c == '_';
}

int line_of_name(const char *source, const char *name)
{
    size_t length = strcspn(name, "@");
    int line = 1;

    while (length && !is_word(name[length - 1]))
        length--;
    for (size_t i = length; i-- > 0;)
        if (!is_word(name[i])) {
            name += i + 1;
            length -= i + 1;
            break;
        }
    for (const char *at = source; length && *at;) {
        const char *after = skip_text(at);
        if (after == at && (at == source || !is_word(at[-1])) && !strncmp(at, name, length) &&
            !is_word(at[length]))
            return line;
        for (after += after == at; at < after; at++)
            line += *at == '\n';
    }
    return 0;
}
