// SPDX-License-Identifier: Apache-2.0
/*
 * The data of runtimes about their containers: bundles, Docker's list and state,
 * containers/storage.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/names.h"
#include "runtimes/state_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int use(void *userdata, const struct container_names *names)
{
	size_t *total = userdata;

	if (!container_id_is_valid(names->names.text[LABEL_CONTAINER_ID]))
		abort();
	*total += strlen(names->names.text[LABEL_CONTAINER_NAME]);
	if (names->cpu_limit_milli > 100000000 || names->cpu_request_milli > 100000000)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* of exactly that size, so that a read beyond it is seen */
	size_t total = 0;
	uint64_t bad = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	(void)containerd_bundle_names(text, size, "id", use, &total);
	(void)crio_bundle_names(text, size, "id", use, &total);
	(void)docker_list_names(text, size, &bad, use, &total);
	(void)docker_config_names(text, size, use, &total);
	(void)storage_list_names(text, size, &bad, use, &total);
	free(text);
	return total == SIZE_MAX;
}
