// SPDX-License-Identifier: Apache-2.0
/* A pipeline's table of models: what is known of each is a number in its range, or unknown. */
#include <stdlib.h>
#include <string.h>

#include "repository/model_entry.h"
#include "repository/model_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_row(void *userdata, const json_t *row)
{
	struct model_entry entry = { .node_type = -1 };
	char *features = NULL;

	(void)userdata;
	if (model_entry_take_metadata(&entry, row, &features) < 0)
		return 0;
	if (entry.mae_w < 0 || entry.mape_percent < 0 || entry.error_count > ENTRY_ERRORS_MAX)
		abort();
	for (size_t i = 0; i < entry.error_count; i++)
		if (!entry.errors[i].component[0] || entry.errors[i].mae_w < 0)
			abort();
	free(features);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag diag = { "" };

	if (model_table_read("table", (const char *)data, size, check_row, NULL, &diag) < 0 &&
	    strncmp(diag.text, "table", 5) != 0)
		abort();
	return 0;
}
