/* roles.h - the role of each operand of an instruction, and the width that follows from it. */
#ifndef SIM_PTX_ROLES_H
#define SIM_PTX_ROLES_H

#include "sim/ptx/module.h"

/* clang-format off */
/* One character per operand:
 *   0 1   of the first, second type        w   of twice the first type's width
 *   d s   the same, in a register that may be wider (cvt)
 *   4 8   of 4, 8 bytes                    p   a predicate
 *   a     an address                       m   data of a load, store, atomic: any width, or a vector
 *   i     of 4 bytes, or a predicate       v   of the first type, or a vector
 *   f     a fragment of a matrix, or texels: registers of 4 or 8 bytes
 *   c     the same, for the coordinates in an address: [a, {x, y}] counts as two operands */
/* clang-format on */

/* Called by the parser, which stores the roles in the instruction. Needs the opcode, mods and
 * number of operands. */
Roles roles_of(const Instruction *in);

/* The bytes per lane that a register of this role must have: 4, 8 or 16; -1: a predicate; 0: any.
 */
int role_bytes(const Instruction *in, char role);
/* The type of a constant operand of this role. */
PtxType role_type(const Instruction *in, char role);

#endif
