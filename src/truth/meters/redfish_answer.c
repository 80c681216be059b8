// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/redfish_answer.h"

#include <string.h>

#define WATTS_MAX 1e6
#define PATH_CHARACTERS                                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~!$&'()*+,;=:@%"

json_t *truth_redfish_parse(const char *text, size_t len)
{
	json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(value))
		return value;
	json_decref(value);
	return NULL;
}

static bool take_link(const json_t *value, struct truth_link *ret)
{
	const char *path = json_string_value(json_object_get(value, "@odata.id"));

	if (!path || *path != '/' || path[1] == '/' || strlen(path) >= sizeof(ret->path) ||
	    path[strspn(path, PATH_CHARACTERS)] != '\0')
		return false;
	memcpy(ret->path, path, strlen(path) + 1);
	return true;
}

bool truth_redfish_link(const json_t *object, const char *key, struct truth_link *ret)
{
	return take_link(json_object_get(object, key), ret);
}

size_t truth_redfish_members(const json_t *object, struct truth_link *ret)
{
	const json_t *members = json_object_get(object, "Members");
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(members) && count < REDFISH_MEMBERS_MAX; i++)
		count += take_link(json_array_get(members, i), &ret[count]);
	return count;
}

static bool take_watts(const json_t *value, double *ret_w)
{
	double watts = json_is_number(value) ? json_number_value(value) : 0;

	if (!(watts > 0 && watts <= WATTS_MAX))
		return false;
	*ret_w = watts;
	return true;
}

static bool take_reading(const json_t *object, const char *key, double *ret_w)
{
	return take_watts(json_object_get(json_object_get(object, key), "Reading"), ret_w);
}

bool truth_redfish_watts(const json_t *object, double *ret_w)
{
	const json_t *control = json_array_get(json_object_get(object, "PowerControl"), 0);
	const char *unit = json_string_value(json_object_get(object, "ReadingUnits"));

	return take_reading(object, "PowerWatts", ret_w) ||
	       take_watts(json_object_get(control, "PowerConsumedWatts"), ret_w) ||
	       take_reading(object, "InputPowerWatts", ret_w) ||
	       (unit && strcmp(unit, "W") == 0 &&
		take_watts(json_object_get(object, "Reading"), ret_w));
}
