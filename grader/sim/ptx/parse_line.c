/* parse_line.c - .loc and .file: which line of the source an instruction comes from.
 *
 * The .loc of inlined code includes the location of the call: .loc 2 440 9, function_name X,
 * inlined_at 1 26 3. A line in one of the toolkit's headers does not help a user, so the location
 * where it was inlined is used instead, repeatedly if necessary. The cost of code from any header
 * is charged to the nearest call in a .cu file: students can change only that file. File names come
 * at the end of the text, so instructions first hold the index of their SourceLine.
 */
#include "sim/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- The table of lines ---- */

static int *bucket_of(Lines *lines, int file, int line, int column)
{
    uint64_t hash =
        ((uint64_t) (unsigned) file * 31 + (unsigned) line) * 1000003 + (unsigned) column;

    hash *= 0x9e3779b97f4a7c15ull;
    return &lines->buckets[(hash >> 40) & (uint64_t) (lines->bucket_count - 1)];
}

/* The newest line with this hash, or -1. One entry per bucket is enough: if an entry is lost, a
 * line of a header is reported at worst. */
static int find_line(Lines *lines, int file, int line, int column)
{
    if (!lines->bucket_count)
        return -1;
    int i = *bucket_of(lines, file, line, column) - 1;
    if (i < 0)
        return -1;
    const SourceLine *found = &lines->all[i];
    return found->file == file && found->line == line && found->column == column ? i : -1;
}

static bool grow_buckets(Parser *p)
{
    Lines *lines = &p->lines;
    int count = lines->bucket_count ? lines->bucket_count * 4 : 256;
    int *buckets = calloc((size_t) count, sizeof *buckets);

    if (!buckets)
        return parse_fail(p, p->token.line, "not enough memory");
    free(lines->buckets);
    lines->buckets = buckets;
    lines->bucket_count = count;
    for (int i = 0; i < lines->count; i++)
        *bucket_of(lines, lines->all[i].file, lines->all[i].line, lines->all[i].column) = i + 1;
    return true;
}

static int add_line(Parser *p, SourceLine line)
{
    Lines *lines = &p->lines;

    if (!parse_room(p, &lines->all, lines->count, &lines->room, sizeof *lines->all, 1 << 24,
                    "lines of .loc"))
        return -1;
    if (lines->count * 2 >= lines->bucket_count && !grow_buckets(p))
        return -1;
    lines->all[lines->count] = line;
    *bucket_of(lines, line.file, line.line, line.column) = lines->count + 1;
    return lines->count++;
}

/* ---- Directives ---- */

static bool read_place(Parser *p, SourceLine *place)
{
    int *const numbers[] = { &place->file, &place->line, &place->column };

    for (int i = 0; i < 3; i++) {
        if (p->token.kind != TOKEN_INTEGER || p->token.bits > INT32_MAX)
            return parse_expected(p, "a file, a line and a column");
        *numbers[i] = (int) p->token.bits;
        advance(p);
    }
    if (place->file > INT32_MAX - p->first_file)
        return parse_expected(p, "the number of a file");
    place->file += place->file ? p->first_file : 0;
    place->parent = -1;
    return true;
}

/* Reads ", function_name LABEL + 4" and ", inlined_at 1 26 3": both in either order, or one of
 * them. */
static bool read_inlined(Parser *p, SourceLine *place)
{
    SourceLine outer;
    Name name;
    int64_t offset;

    while (take_punct(p, ',')) {
        Name key = p->token.text;
        bool inlined = p->token.kind == TOKEN_NAME && name_is(key, "inlined_at");
        if (!inlined && !(p->token.kind == TOKEN_NAME && name_is(key, "function_name")))
            return parse_expected(p, "function_name or inlined_at");
        advance(p);
        if (inlined ? !read_place(p, &outer) : !expect_name(p, &name) || !read_offset(p, &offset))
            return false;
        if (inlined)
            place->parent = find_line(&p->lines, outer.file, outer.line, outer.column);
        if (inlined && place->parent < 0)
            place->parent = add_line(p, outer);
    }
    return !p->failed;
}

void read_loc(Parser *p)
{
    SourceLine place;

    advance(p);
    if (!read_place(p, &place) || !read_inlined(p, &place))
        return;
    const SourceLine *last = p->lines.current < 0 ? NULL : &p->lines.all[p->lines.current];
    if (!place.line) /* code of several lines that the compiler merged: near the line before it */
        return;
    bool same = last && last->file == place.file && last->line == place.line &&
                last->column == place.column && last->parent == place.parent;
    if (!same)
        p->lines.current = add_line(p, place);
}

/* The character after a backslash: three octal digits of a byte that is not ASCII, or itself. */
static char unescape(Name text, int *i)
{
    int byte = 0, digits = 0;

    while (digits < 3 && *i + digits < text.length && text.at[*i + digits] >= '0' &&
           text.at[*i + digits] <= '7')
        byte = byte * 8 + text.at[*i + digits++] - '0';
    if (digits < 3)
        return text.at[*i];
    *i += 2;
    return (char) byte;
}

/* The text of a string token, with the escapes that occur in file names replaced. */
static char *copy_string(Name text)
{
    char *copy = malloc((size_t) text.length + 1);
    int length = 0;

    for (int i = 0; copy && i < text.length; i++)
        if (text.at[i] == '\\' && ++i < text.length)
            copy[length++] = unescape(text, &i);
        else if (i < text.length)
            copy[length++] = text.at[i];
    if (copy)
        copy[length] = 0;
    return copy;
}

static bool name_file(Parser *p, int number, Name text)
{
    Module *module = p->module;

    if (number >= module->file_count) {
        char **files = realloc(module->files, ((size_t) number + 1) * sizeof *files);
        if (!files)
            return parse_fail(p, p->token.line, "not enough memory");
        memset(files + module->file_count, 0,
               (size_t) (number + 1 - module->file_count) * sizeof *files);
        module->files = files;
        module->file_count = number + 1;
    }
    free(module->files[number]);
    module->files[number] = copy_string(text);
    return module->files[number] || parse_fail(p, p->token.line, "not enough memory");
}

/* .file 1 "name", optionally followed by a time and a size. */
void read_file_name(Parser *p)
{
    advance(p);
    uint64_t number = p->token.bits;
    if (p->token.kind != TOKEN_INTEGER || !number || number >= MOST_FILES) {
        parse_expected(p, "the number of a file");
        return;
    }
    advance(p);
    if (p->token.kind != TOKEN_STRING) {
        parse_expected(p, "the name of a file");
        return;
    }
    Name text = p->token.text;
    advance(p);
    if ((int) number + p->first_file < MOST_FILES)
        name_file(p, (int) number + p->first_file, text);
    while (take_punct(p, ','))
        if (p->token.kind == TOKEN_INTEGER)
            advance(p);
        else
            parse_expected(p, "a number");
}

/* ---- After a text ---- */

/* True for headers of the toolkit or the compiler. */
static bool is_toolkits(const Module *module, int file)
{
    static const char *const parts[] = { "/targets/", "/cuda/include/", "/usr/include/",
                                         "/usr/lib/gcc/", "/cuda_runtime" };
    const char *name = file < module->file_count ? module->files[file] : NULL;

    for (size_t i = 0; name && i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) && strstr(name, "/include/"))
            return true;
    return false;
}

/* A line comes after the line where it is inlined, so one pass is enough. */
static void climb(Parser *p, const bool *toolkits)
{
    Lines *lines = &p->lines;
    int files = p->module->file_count;

    for (int i = 0; i < lines->count; i++) {
        SourceLine *line = &lines->all[i];
        bool climbs = line->parent >= 0 && line->file < files && toolkits[line->file];
        if (climbs && lines->all[line->parent].file)
            *line = lines->all[line->parent];
        if (line->file >= files || !p->module->files[line->file])
            *line = (SourceLine){ 0, 0, 0, -1 };
    }
}

static bool is_cuda(const Module *module, int file)
{
    const char *name = file > 0 && file < module->file_count ? module->files[file] : NULL;
    const char *end = name ? strrchr(name, '.') : NULL;

    return end && !strcmp(end, ".cu");
}

/* The line itself if no caller lies in a .cu file. A caller has a lower index, so this ends. */
static const SourceLine *charged_line(const Module *module, const Lines *lines,
                                      const SourceLine *line)
{
    const SourceLine *at = line;

    while (!is_cuda(module, at->file)) {
        if (at->parent < 0)
            return line;
        at = &lines->all[at->parent];
    }
    return at;
}

static void set_lines(const Module *module, Function *f, const Lines *lines)
{
    static const SourceLine unknown = { 0, 0, 0, -1 };

    if (f->has_lines)
        return;
    f->has_lines = f->instruction_count;
    for (int i = 0; i < f->instruction_count; i++) {
        Instruction *in = &f->instructions[i];
        const SourceLine *line = in->line > 0 ? &lines->all[in->line - 1] : &unknown;
        const SourceLine *charged = charged_line(module, lines, line);
        in->file = line->file;
        in->line = line->line;
        in->charged_file = charged->file;
        in->charged_line = charged->line;
    }
}

void resolve_lines(Parser *p)
{
    Module *module = p->module;
    bool *toolkits = calloc((size_t) module->file_count + 1, sizeof *toolkits);

    if (!toolkits) {
        parse_fail(p, p->token.line, "not enough memory");
        return;
    }
    for (int i = 0; i < module->file_count; i++)
        toolkits[i] = is_toolkits(module, i);
    climb(p, toolkits);
    for (int i = 0; i < module->function_count && !p->failed; i++)
        set_lines(module, &module->functions[i], &p->lines);
    free(toolkits);
    lines_free(&p->lines);
    p->lines = (Lines){ .current = -1 };
}

void lines_free(Lines *lines)
{
    free(lines->all);
    free(lines->buckets);
}
