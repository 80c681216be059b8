// SPDX-License-Identifier: Apache-2.0
/* Resources of a Redfish service: links are paths of the same service, powers are possible ones. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "truth/meters/redfish_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_link(const struct truth_link *link)
{
	if (link->path[0] != '/' || link->path[1] == '/' || strpbrk(link->path, " ?#\r\n\"\\"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "Chassis", "EnvironmentMetrics", "Power", "Metrics" };
	struct truth_link links[REDFISH_MEMBERS_MAX], link;
	json_t *object = truth_redfish_parse((const char *)data, size);
	double watts = 0;

	if (!object)
		return 0;
	size_t count = truth_redfish_members(object, links);
	if (count > REDFISH_MEMBERS_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		check_link(&links[i]);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (truth_redfish_link(object, keys[i], &link))
			check_link(&link);
	if (truth_redfish_watts(object, &watts) && !(watts > 0 && watts <= 1e6))
		abort();
	json_decref(object);
	return 0;
}
