/* SPDX-License-Identifier: Apache-2.0 */
/* Members of the JSON objects in reports. Without memory, a member is left out. */
#pragma once

#include <jansson.h>

/* @object takes @value over. */
void json_members_set(json_t *object, const char *key, json_t *value);
/* A number that is not known, or not finite, is null. */
void json_members_set_number(json_t *object, const char *key, double value);
/* Text from outside need not be UTF-8: then "?" stands for each of its bytes beyond ASCII. */
void json_members_set_text(json_t *object, const char *key, const char *text);
