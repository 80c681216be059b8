// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/catalog_counters.h"

#include <stdio.h>
#include <string.h>

void counter_family(const struct family *family, enum signal signal, struct counter_family *ret)
{
	const char *hole = strstr(family->help, FAMILY_SIGNAL);
	int before = hole ? (int)(hole - family->help) : (int)strlen(family->help);

	ret->family = *family;
	(void)snprintf(ret->help, sizeof(ret->help), "%.*s%s%s", before, family->help,
		       hole ? signal_info[signal].counted : "",
		       hole ? hole + strlen(FAMILY_SIGNAL) : "");
	ret->family.help = ret->help;
	if (signal_info[signal].unit)
		ret->family.unit = signal_info[signal].unit;
}

bool counter_is_of_family(const struct family *family, enum signal signal, unsigned schemas)
{
	bool is_event = signal_info[signal].is_event;

	if (!(family->schemas & SCHEMA_CURRENT))
		return is_event;
	return family->of != OF_ROWS_COUNTERS || !is_event || schemas & SCHEMA_CURRENT;
}
