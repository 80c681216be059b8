// SPDX-License-Identifier: Apache-2.0
/* A request to the model server, as JSON, and as arguments of a query. */
#include <stdlib.h>
#include <string.h>

#include "model-server/api_request.h"
#include "repository/entry_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any argument has the same value. */
static const char *same(void *userdata, const char *name)
{
	(void)name;
	return userdata;
}

static void check(const struct choice_request *choice)
{
	const struct model_entry entry = { .source = "acpi", .node_type = 1 };
	struct entry_filter filter;
	struct diag diag = { "" };

	if (choice->feature_count > API_METRICS_MAX || choice->node_type < -1 ||
	    !(choice->max_error >= 0))
		abort();
	for (size_t i = 0; i < choice->feature_count; i++)
		if (!choice->features[i])
			abort();
	if (entry_filter_parse(choice->filter, &filter, &diag) == 0)
		(void)entry_filter_passes(&filter, &entry);
	else if (!diag.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_request request;
	char text[512] = "";
	bool any;

	if (api_request_read((const char *)data, size, &request, NULL) == 0) {
		check(&request.choice);
		api_request_release(&request);
	}
	memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	if (api_request_query(same, text, &request, NULL) == 0)
		check(&request.choice);
	if (api_request_best(same, text, &request, &any, NULL) == 0)
		check(&request.choice);
	return 0;
}
