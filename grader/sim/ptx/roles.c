/* roles.c - a row for each form of an instruction: destinations = sources ? optional sources.
 *
 * The first row of the opcode that has the mod (if it names one) and fits the number of operands is
 * taken. The binders do the finer checks, of types and mods; this table only makes sure that no
 * handler finds a predicate where it expects a plane, or a narrow plane where it expects a wide
 * one.
 */
#include "sim/ptx/roles.h"

#include <string.h>

static const struct Form {
    Op op;
    Mod mod; /* MODS: any */
    const char *form;
} forms[] = {
    { OP_abs, MODS, "0=0" },
    { OP_activemask, MODS, "4=" },
    { OP_add, MODS, "0=00" },
    { OP_addc, MODS, "0=00" },
    { OP_and, MODS, "0=00" },
    { OP_atom, MOD_cas, "m=amm?8" },
    { OP_atom, MODS, "m=am?8" },
    { OP_bar, MOD_warp, "=4" },
    { OP_bar, MOD_red, "0=4p" },
    { OP_bar, MOD_red, "0=44p" },
    { OP_bar, MODS, "=4?4" },
    { OP_barrier, MOD_red, "0=4p" },
    { OP_barrier, MOD_red, "0=44p" },
    { OP_barrier, MODS, "=4?4" },
    { OP_bfe, MODS, "0=044" },
    { OP_bfi, MODS, "0=0044" },
    { OP_bfind, MODS, "4=0" },
    { OP_bmsk, MODS, "4=44" },
    { OP_brev, MODS, "0=0" },
    { OP_brkpt, MODS, "=" },
    { OP_clz, MODS, "4=0" },
    { OP_cnot, MODS, "0=0" },
    { OP_copysign, MODS, "0=00" },
    { OP_cos, MODS, "0=0" },
    { OP_cp_async, MOD_commit_group, "=" },
    { OP_cp_async, MOD_wait_all, "=" },
    { OP_cp_async, MOD_wait_group, "=4" },
    { OP_cp_async, MOD_async, "=aa4?i" },
    { OP_createpolicy, MODS, "8=?m" },
    { OP_createpolicy, MODS, "8=a44" },
    { OP_cvt, MODS, "d=s" },
    { OP_cvt, MODS, "0=11?4" },
    { OP_cvta, MODS, "0=0" },
    { OP_discard, MODS, "=a4" },
    { OP_div, MODS, "0=00" },
    { OP_dp2a, MODS, "4=444" },
    { OP_dp4a, MODS, "4=444" },
    { OP_elect, MODS, "4p=4" },
    { OP_ex2, MODS, "0=0" },
    { OP_exit, MODS, "=" },
    { OP_fence, MODS, "=" },
    { OP_fma, MODS, "0=000" },
    { OP_fns, MODS, "4=444" },
    { OP_griddepcontrol, MODS, "=" },
    { OP_isspacep, MODS, "p=8" },
    { OP_ld, MODS, "m=a?8" },
    { OP_ldu, MODS, "m=a?8" },
    { OP_lg2, MODS, "0=0" },
    { OP_lop3, MODS, "0=0004" },
    { OP_mad, MOD_wide, "w=00w" },
    { OP_mad, MODS, "0=000" },
    { OP_mad24, MODS, "0=000" },
    { OP_madc, MODS, "0=000" },
    { OP_match, MOD_all, "4p=04" },
    { OP_match, MODS, "4=04" },
    { OP_max, MODS, "0=00?0" },
    { OP_membar, MODS, "=" },
    { OP_min, MODS, "0=00?0" },
    { OP_mov, MODS, "v=v" },
    { OP_mul, MOD_wide, "w=00" },
    { OP_mul, MODS, "0=00" },
    { OP_mul24, MODS, "0=00" },
    { OP_nanosleep, MODS, "=4" },
    { OP_neg, MODS, "0=0" },
    { OP_not, MODS, "0=0" },
    { OP_or, MODS, "0=00" },
    { OP_pmevent, MODS, "=4" },
    { OP_popc, MODS, "4=0" },
    { OP_prefetch, MODS, "=a" },
    { OP_prefetchu, MODS, "=a" },
    { OP_prmt, MODS, "0=000" },
    { OP_rcp, MODS, "0=0" },
    { OP_red, MODS, "=am?8" },
    { OP_redux, MODS, "0=04" },
    { OP_rem, MODS, "0=00" },
    { OP_ret, MODS, "=" },
    { OP_rsqrt, MODS, "0=0" },
    { OP_sad, MODS, "0=000" },
    { OP_selp, MODS, "0=00p" },
    { OP_set, MODS, "0=11?p" },
    { OP_setp, MOD_and, "p=00p" },
    { OP_setp, MOD_and, "pp=00p" },
    { OP_setp, MOD_or, "p=00p" },
    { OP_setp, MOD_or, "pp=00p" },
    { OP_setp, MOD_xor, "p=00p" },
    { OP_setp, MOD_xor, "pp=00p" },
    { OP_setp, MODS, "p=00" },
    { OP_setp, MODS, "pp=00" },
    { OP_shf, MODS, "0=004" },
    { OP_shfl, MOD_sync, "4=4444" },
    { OP_shfl, MOD_sync, "4p=4444" },
    { OP_shl, MODS, "0=04" },
    { OP_shr, MODS, "0=04" },
    { OP_sin, MODS, "0=0" },
    { OP_slct, MODS, "0=001" },
    { OP_sqrt, MODS, "0=0" },
    { OP_st, MODS, "=am?8" },
    { OP_sub, MODS, "0=00" },
    { OP_subc, MODS, "0=00" },
    { OP_szext, MODS, "0=04" },
    { OP_tanh, MODS, "0=0" },
    { OP_testp, MODS, "p=0" },
    { OP_trap, MODS, "=" },
    { OP_vote, MOD_ballot, "4=p4" },
    { OP_vote, MODS, "p=p4" },
    { OP_xor, MODS, "0=00" },
};

/* False: not that many operands. */
static bool read_form(const char *form, int operands, Roles *roles)
{
    const char *sources = strchr(form, '=') + 1, *optional = strchr(form, '?');
    int least = 0;

    roles->destinations = (int) (sources - 1 - form);
    roles->count = 0;
    for (const char *c = form; *c; c++)
        if (*c != '=' && *c != '?') {
            roles->role[roles->count++] = *c;
            least += !optional || c < optional;
        }
    if (operands < least || operands > roles->count)
        return false;
    roles->count = operands;
    return true;
}

bool roles_of(const Instruction *in, Roles *roles)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].op == in->op && (forms[i].mod == MODS || has_mod(in, forms[i].mod)) &&
            read_form(forms[i].form, in->count, roles))
            return true;
    return false;
}

static PtxType twice(PtxType type)
{
    static const PtxType wider[TYPES] = {
        [TYPE_U16] = TYPE_U32, [TYPE_S16] = TYPE_S32, [TYPE_U32] = TYPE_U64, [TYPE_S32] = TYPE_S64
    };

    return wider[type];
}

PtxType role_type(const Instruction *in, char role)
{
    switch (role) {
    case '1':
    case 's':
        return in->type_count > 1 ? in->types[1] : in->types[0];
    case 'w':
        return twice(in->types[0]);
    case '4':
    case 'i':
        return TYPE_B32;
    case '8':
    case 'a':
        return TYPE_B64;
    case 'p':
        return TYPE_PRED;
    default:
        return in->types[0];
    }
}

int role_bytes(const Instruction *in, char role)
{
    PtxType type = role_type(in, role);
    int bytes = type_size(type);

    if (role == 'm' || role == 'a')
        return 0;
    if (type == TYPE_PRED)
        return -1;
    return bytes < 4 ? 4 : bytes;
}
