// SPDX-License-Identifier: Apache-2.0
/* An index of node types; and the same bytes as the name of a processor. */
#include <stdlib.h>
#include <string.h>

#include "repository/node_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const uint8_t *data, size_t size)
{
	char text[256] = "", name[64], again[64];

	memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	processor_name(text, name, sizeof(name));
	processor_name(name, again, sizeof(again));
	if (strlen(again) > strlen(name))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_types types;

	check_name(data, size);
	if (node_types_parse("index", (const char *)data, size, &types, NULL) < 0)
		return 0;
	for (size_t i = 0; i < types.count; i++) {
		if (types.types[i].number < 0 ||
		    node_types_find(&types, types.types[i].number)->number != types.types[i].number)
			abort();
		if (!(machine_spec_unknown(&types.types[i].machine) >= 0 &&
		      machine_spec_unknown(&types.types[i].machine) <= 1))
			abort();
	}
	node_types_release(&types);
	return 0;
}
