// SPDX-License-Identifier: Apache-2.0
#include "samples/power_column.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX "_power"

void power_column(const char *component, char ret[static SAMPLE_NAME_MAX])
{
	(void)snprintf(ret, SAMPLE_NAME_MAX, "%.80s" SUFFIX, component);
}

bool power_column_component(const char *column, char ret[static SAMPLE_NAME_MAX])
{
	size_t len = strlen(column), suffix = strlen(SUFFIX);

	if (len <= suffix || len >= SAMPLE_NAME_MAX || strcmp(column + len - suffix, SUFFIX) != 0)
		return false;
	(void)snprintf(ret, SAMPLE_NAME_MAX, "%.*s", (int)(len - suffix), column);
	return strncmp(ret, "package_", strlen("package_")) != 0;
}

bool power_column_is_used(const struct sample_table *table, size_t column,
			  char ret_component[static SAMPLE_NAME_MAX])
{
	if (!power_column_component(table->names[column], ret_component))
		return false;
	for (size_t row = 0; row < table->rows; row++) {
		if (table->columns[column][row] > 0)
			return true;
	}
	return false;
}
