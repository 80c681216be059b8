// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/catalog_counters.h"

#include <stdio.h>
#include <string.h>

void counter_family(const struct family *family, const struct quantity *quantity,
		    struct counter_family *ret)
{
	const char *hole = strstr(family->help, FAMILY_SIGNAL);
	int before = hole ? (int)(hole - family->help) : (int)strlen(family->help);

	ret->family = *family;
	(void)snprintf(ret->help, sizeof(ret->help), "%.*s%s%s", before, family->help,
		       hole ? quantity->counted : "", hole ? hole + strlen(FAMILY_SIGNAL) : "");
	ret->family.help = ret->help;
	if (quantity->unit)
		ret->family.unit = quantity->unit;
}

bool counter_is_of_family(const struct family *family, const struct quantity *quantity,
			  unsigned schemas)
{
	if (!quantity->counted)
		return false;
	if (!(family->schemas & SCHEMA_CURRENT))
		return quantity->is_event;
	return family->of != OF_ROWS_COUNTERS || !quantity->is_event || schemas & SCHEMA_CURRENT;
}
