/* json.h - writes JSON with cJSON; exits if memory runs out. Empty texts are left out. */
#ifndef GRADEBOOK_REPORT_JSON_H
#define GRADEBOOK_REPORT_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

cJSON *json_object(void);
cJSON *json_object_in(cJSON *object, const char *key);
cJSON *json_list_in(cJSON *object, const char *key);
cJSON *json_object_of(cJSON *list); /* adds an object to a list */

void json_text(cJSON *object, const char *key, const char *text);
void json_number(cJSON *object, const char *key, double value, int digits); /* decimals */
void json_flag(cJSON *object, const char *key, bool value);

void json_print(FILE *to, cJSON *json); /* prints `json` and frees it */

#endif
