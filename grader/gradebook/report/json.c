/* json.c - writes JSON with cJSON; exits if memory runs out. */
#include "gradebook/report/json.h"
#include "base/util.h"

#include <stdlib.h>

static cJSON *checked(cJSON *item)
{
    if (!item)
        die("out of host memory");
    return item;
}

cJSON *json_object(void)
{
    return checked(cJSON_CreateObject());
}

cJSON *json_object_in(cJSON *object, const char *key)
{
    return checked(cJSON_AddObjectToObject(object, key));
}

cJSON *json_list_in(cJSON *object, const char *key)
{
    return checked(cJSON_AddArrayToObject(object, key));
}

cJSON *json_object_of(cJSON *list)
{
    cJSON *item = json_object();

    if (!cJSON_AddItemToArray(list, item))
        die("out of host memory");
    return item;
}

void json_text(cJSON *object, const char *key, const char *text)
{
    if (*text)
        checked(cJSON_AddStringToObject(object, key, text));
}

/* Rounded, since a double's last digits carry no information. */
void json_number(cJSON *object, const char *key, double value, int digits)
{
    char text[64];

    checked(cJSON_AddRawToObject(object, key, PUT(text, "%.*f", digits, value)));
}

void json_flag(cJSON *object, const char *key, bool value)
{
    checked(cJSON_AddBoolToObject(object, key, value));
}

void json_print(FILE *to, cJSON *json)
{
    char *text = cJSON_Print(json);

    if (!text)
        die("out of host memory");
    fputs(text, to);
    free(text);
    cJSON_Delete(json);
}
