/* line_table.h - which line of the PTX each machine instruction of a cubin comes from.
 *
 * With -lineinfo, ptxas writes the PTX to .nv_debug_ptx_txt, and a line program in DWARF 2's format
 * to .nv_debug_line_sass. The cubin is not trusted.
 */
#ifndef SIM_BINARY_LINE_TABLE_H
#define SIM_BINARY_LINE_TABLE_H

#include "sim/binary/elf_reader.h"

/* Sets lines[i] to the line of the instruction at address i * unit of section `text`, for i <
 * count; 0: unknown. Returns false if the cubin has no line table for this section, or it is
 * malformed. */
bool line_table_read(const Elf *elf, uint32_t text, int unit, int *lines, int count);

/* The line of the PTX in the cubin, from 1; its length in *length. NULL: there is no such line.
 * Comments and .loc directives are empty lines there. */
typedef struct PtxLines {
    const char *text;
    size_t size;
    const uint32_t *starts; /* by line - 1; owned */
    int count;
} PtxLines;

/* Returns false if the cubin has no PTX, or memory ran out. Keeps pointers into the cubin. */
bool ptx_lines_read(const Elf *elf, PtxLines *lines);
const char *ptx_line_at(const PtxLines *lines, int line, size_t *length);
void ptx_lines_free(PtxLines *lines);

#endif
