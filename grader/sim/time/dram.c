/* dram.c - memory as a queue of atoms, and the rows that its banks hold open.
 *
 * It transfers atoms: a single sector costs its whole atom. A partly written atom is read first,
 * since memory with error correction writes only whole atoms.
 */
#include "sim/time/model.h"

/* Banks hold one open row each. Opening another takes a turn of its own, so that scattered atoms
 * are limited by the rows that all banks open in a time, not by bandwidth. */
static double open_row(Memory *memory, uint64_t line, double now)
{
    const uint64_t row = line / ROW_LINES;
    uint64_t *open = &memory->rows[(row * 0x9e3779b97f4a7c15ull >> 32) % OPEN_ROWS];

    if (!memory->row_cycles || *open == row)
        return now;
    *open = row;
    memory->rows_free = latest(memory->rows_free, now) + memory->row_cycles;
    memory->rows_busy += memory->row_cycles;
    return memory->rows_free;
}

/* While the DRAM has nothing else to do, the L2 lets it write dirty lines that will be displaced
 * later, at most as many as the launch has dirtied. */
static void write_ahead(Memory *memory, double now)
{
    const double dirtied = memory->atoms_dirtied * memory->write_cycles - memory->ahead_all;
    const double idle = now - latest(memory->dram_free, memory->rows_free);
    const double more = idle < dirtied ? idle : dirtied;

    if (more > 0) {
        memory->ahead += more;
        memory->ahead_all += more;
    }
}

static double transfer(Memory *memory, uint64_t line, double cycles, double now)
{
    write_ahead(memory, now);
    const double open = open_row(memory, line, now);
    memory->dram_free = latest(memory->dram_free, now) + cycles;
    memory->dram_busy += cycles;
    return latest(memory->dram_free, open);
}

/* What a displaced line needs, unless that was done while the DRAM was idle. */
static void transfer_displaced(Memory *memory, uint64_t line, double cycles, double now)
{
    if (memory->ahead < cycles) {
        transfer(memory, line, cycles, now);
        return;
    }
    memory->ahead -= cycles;
    memory->dram_busy += cycles;
}

double memory_read_atoms(Memory *memory, uint64_t line, double atoms, double now)
{
    memory->read_bytes += atoms * memory->atom_sectors * SECTOR_BYTES;
    return transfer(memory, line, atoms * memory->read_cycles, now);
}

void memory_write_atoms(Memory *memory, uint64_t line, double atoms, double now)
{
    memory->write_bytes += atoms * memory->atom_sectors * SECTOR_BYTES;
    memory->write_busy += atoms * memory->write_cycles;
    transfer_displaced(memory, line, atoms * memory->write_cycles, now);
}

void memory_fill_atoms(Memory *memory, uint64_t line, double atoms, double now)
{
    memory->read_bytes += atoms * memory->atom_sectors * SECTOR_BYTES;
    transfer_displaced(memory, line, atoms * memory->read_cycles, now);
}

double memory_dram_busy(const Memory *memory)
{
    return latest(memory->dram_busy, memory->rows_busy);
}
