/* line_table.c - runs the line program in a cubin's .nv_debug_line_sass. The program is one unit in
 * DWARF 2's format: a header, then for each function a sequence that starts by setting the address,
 * which a relocation binds to the function's section. */
#include "sim/binary/line_table.h"

#include <stdlib.h>
#include <string.h>

static const char SECTION[] = ".nv_debug_line_sass";

/* DWARF 2, section 6.2. */
enum {
    STANDARD_EXTENDED = 0,
    STANDARD_COPY,
    STANDARD_ADVANCE_PC,
    STANDARD_ADVANCE_LINE,
    STANDARD_SET_FILE,
    STANDARD_SET_COLUMN,
    STANDARD_NEGATE,
    STANDARD_BASIC_BLOCK,
    STANDARD_ADD_CONSTANT,
    STANDARD_FIXED_ADVANCE,
    EXTENDED_END = 1,
    EXTENDED_SET_ADDRESS = 2,
    MOST_LINES = 1 << 24,
    UNIT_HEADER = 15, /* bytes, up to the lengths of the standard opcodes */
};

/* ---- Bytes ---- */

typedef struct LineReader {
    const unsigned char *start, *at, *end;
    bool failed; /* the program ends in the middle of something */
} LineReader;

static uint64_t take_number(LineReader *reader, int bytes)
{
    uint64_t value = 0;

    if (reader->end - reader->at < bytes) {
        reader->failed = true;
        reader->at = reader->end;
        return 0;
    }
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | reader->at[i];
    reader->at += bytes;
    return value;
}

/* LEB128: 7 bits per byte. Bits beyond the 64th are dropped. */
static uint64_t take_leb(LineReader *reader, bool is_signed)
{
    uint64_t value = 0;
    int shift = 0;
    unsigned byte;

    do {
        byte = (unsigned) take_number(reader, 1);
        if (shift < 64)
            value |= (uint64_t) (byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 0x80 && !reader->failed);
    if (is_signed && byte & 0x40 && shift < 64)
        value |= ~0ull << shift;
    return value;
}

/* ---- A unit ---- */

typedef struct LineProgram {
    LineReader reader;
    const Elf *elf;
    int least_advance, line_base, line_range, opcode_base;
    unsigned char arguments[256]; /* of each standard opcode */
    /* The state machine. */
    uint64_t address;
    int64_t line;
    bool is_ours; /* the sequence is about the requested section */
    /* Where the rows go. */
    uint32_t text;
    int unit, count;
    int *lines;
    int last; /* the instruction of the last row, or -1 */
    bool found;
} LineProgram;

/* Reads the header. Directories and files are skipped: everything comes from one PTX. */
static bool read_header(LineProgram *program, LineReader *unit)
{
    LineReader *reader = &program->reader;
    uint64_t length = take_number(unit, 4), header;

    if (unit->failed || length > (uint64_t) (unit->end - unit->at) || length < UNIT_HEADER - 4)
        return false;
    *reader = (LineReader){ unit->start, unit->at, unit->at + length, false };
    unit->at += length;
    if (take_number(reader, 2) != 2)
        return false;
    header = take_number(reader, 4);
    if (header > (uint64_t) (reader->end - reader->at))
        return false;
    const unsigned char *first = reader->at + header;
    program->least_advance = (int) take_number(reader, 1);
    take_number(reader, 1);
    program->line_base = (int8_t) take_number(reader, 1);
    program->line_range = (int) take_number(reader, 1);
    program->opcode_base = (int) take_number(reader, 1);
    for (int i = 1; i < program->opcode_base; i++)
        program->arguments[i] = (unsigned char) take_number(reader, 1);
    if (reader->failed || !program->line_range || !program->opcode_base || first < reader->at)
        return false;
    reader->at = first;
    return true;
}

static void begin_sequence(LineProgram *program)
{
    program->address = 0;
    program->line = 1;
    program->is_ours = false;
    program->last = -1;
}

/* From the last row to `to`, instructions have the line of that row. */
static void fill(LineProgram *program, uint64_t to)
{
    if (program->last < 0)
        return;
    for (int i = program->last + 1; i < program->count && (uint64_t) i < to; i++)
        program->lines[i] = program->lines[program->last];
}

static void add_row(LineProgram *program)
{
    const uint64_t index = program->address / (uint64_t) program->unit;

    if (!program->is_ours || index >= (uint64_t) program->count)
        return;
    fill(program, index);
    program->last = (int) index;
    program->lines[index] =
        program->line > 0 && program->line < MOST_LINES ? (int) program->line : 0;
    program->found = true;
}

static void end_sequence(LineProgram *program)
{
    if (program->is_ours)
        fill(program, program->address / (uint64_t) program->unit);
    begin_sequence(program);
}

static void advance_line(LineProgram *program, int64_t by)
{
    if (by > -MOST_LINES && by < MOST_LINES && program->line > -MOST_LINES &&
        program->line < MOST_LINES)
        program->line += by;
}

static void set_address(LineProgram *program)
{
    LineReader *reader = &program->reader;
    const uint64_t offset = (uint64_t) (reader->at - reader->start);
    ElfPlace place;

    program->address = take_number(reader, 8);
    program->is_ours = !reader->failed && elf_relocation(program->elf, SECTION, offset, &place) &&
                       place.section == program->text;
    if (program->is_ours)
        program->address += place.offset;
}

static void run_extended(LineProgram *program)
{
    LineReader *reader = &program->reader;
    const uint64_t length = take_leb(reader, false);
    const unsigned char *next;
    unsigned opcode;

    if (reader->failed || !length || length > (uint64_t) (reader->end - reader->at)) {
        reader->failed = true;
        return;
    }
    next = reader->at + length;
    opcode = (unsigned) take_number(reader, 1);
    if (opcode == EXTENDED_END)
        end_sequence(program);
    else if (opcode == EXTENDED_SET_ADDRESS && length == 9)
        set_address(program);
    reader->at = next;
}

static void run_special(LineProgram *program, int opcode)
{
    const int adjusted = opcode - program->opcode_base;

    program->address += (uint64_t) (adjusted / program->line_range * program->least_advance);
    advance_line(program, program->line_base + adjusted % program->line_range);
    add_row(program);
}

static void run_standard(LineProgram *program, int opcode)
{
    LineReader *reader = &program->reader;

    switch (opcode) {
    case STANDARD_EXTENDED:
        run_extended(program);
        break;
    case STANDARD_COPY:
        add_row(program);
        break;
    case STANDARD_ADVANCE_PC:
        program->address += take_leb(reader, false) * (uint64_t) program->least_advance;
        break;
    case STANDARD_ADVANCE_LINE:
        advance_line(program, (int64_t) take_leb(reader, true));
        break;
    case STANDARD_ADD_CONSTANT:
        program->address += (uint64_t) ((255 - program->opcode_base) / program->line_range *
                                        program->least_advance);
        break;
    case STANDARD_FIXED_ADVANCE:
        program->address += take_number(reader, 2);
        break;
    default:
        for (int i = 0; i < program->arguments[opcode]; i++)
            take_leb(reader, false);
    }
}

static bool run_unit(LineProgram *program)
{
    LineReader *reader = &program->reader;

    begin_sequence(program);
    while (reader->at < reader->end && !reader->failed) {
        int opcode = (int) take_number(reader, 1);
        if (opcode >= program->opcode_base)
            run_special(program, opcode);
        else
            run_standard(program, opcode);
    }
    return !reader->failed;
}

bool line_table_read(const Elf *elf, uint32_t text, int unit, int *lines, int count)
{
    LineProgram program = {
        .elf = elf, .text = text, .unit = unit, .lines = lines, .count = count
    };
    ElfSection section;
    LineReader units;

    memset(lines, 0, (size_t) count * sizeof *lines);
    if (!elf_find(elf, SECTION, &section) || !section.bytes)
        return false;
    units = (LineReader){ section.bytes, section.bytes, section.bytes + section.size, false };
    while (units.at < units.end)
        if (!read_header(&program, &units) || !run_unit(&program))
            return false;
    return program.found;
}

/* ---- The PTX ---- */

bool ptx_lines_read(const Elf *elf, PtxLines *lines)
{
    ElfSection section;
    uint32_t *starts;
    int count = 0;

    *lines = (PtxLines){ 0 };
    if (!elf_find(elf, ".nv_debug_ptx_txt", &section) || !section.bytes || !section.size ||
        section.size > UINT32_MAX)
        return false;
    for (uint64_t i = 0; i < section.size; i++)
        count += !section.bytes[i] && count < MOST_LINES;
    starts = malloc(((size_t) count + 1) * sizeof *starts);
    if (!starts)
        return false;
    starts[0] = 0;
    count = 0;
    for (uint64_t i = 0; i < section.size; i++)
        if (!section.bytes[i] && count < MOST_LINES)
            starts[++count] = (uint32_t) i + 1;
    *lines = (PtxLines){ (const char *) section.bytes, section.size, starts, count };
    return true;
}

const char *ptx_line_at(const PtxLines *lines, int line, size_t *length)
{
    if (line < 1 || line > lines->count)
        return NULL;
    *length = lines->starts[line] - lines->starts[line - 1] - 1;
    return lines->text + lines->starts[line - 1];
}

void ptx_lines_free(PtxLines *lines)
{
    free((void *) lines->starts);
    *lines = (PtxLines){ 0 };
}
