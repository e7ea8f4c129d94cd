/* roles.c - finds the form of an instruction in ops.def, and the width of its operands. */
#include "sim/ptx/roles.h"

#include <string.h>

enum { MOST_FORMS = 8 };

typedef struct Form {
    Mod mod; /* MODS: any */
    const char *text;
} Form;

static const Form forms[OPS][MOST_FORMS] = {
#define ANY(text)                                                                                  \
    {                                                                                              \
        MODS, text                                                                                 \
    }
#define WITH(mod, text)                                                                            \
    {                                                                                              \
        MOD_##mod, text                                                                            \
    }
#define NO_FORM                                                                                    \
    {                                                                                              \
        MODS, NULL                                                                                 \
    }
#define OP(name, class, facts, ...)              [OP_##name] = { __VA_ARGS__ },
#define OP2(enumerator, name, class, facts, ...) [OP_##enumerator] = { __VA_ARGS__ },
#include "sim/ptx/ops.def"
#undef OP
#undef OP2
};

/* Returns false if the form has a different number of operands. */
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

Roles roles_of(const Instruction *in)
{
    Roles roles;

    for (const Form *form = forms[in->op]; form < forms[in->op] + MOST_FORMS && form->text; form++)
        if ((form->mod == MODS || has_mod(in, form->mod)) &&
            read_form(form->text, in->count, &roles)) {
            roles.known = true;
            return roles;
        }
    return (Roles){ .known = false };
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
    case 'c':
        return in->type_count > 1 ? in->types[1] : TYPE_S32;
    default:
        return in->types[0];
    }
}

int role_bytes(const Instruction *in, char role)
{
    PtxType type = role_type(in, role);
    int bytes = type_size(type);

    if (role == 'm' || role == 'a' || role == 'f' || role == 'c')
        return 0;
    if (type == TYPE_PRED)
        return -1;
    return bytes < 4 ? 4 : bytes;
}
