// SPDX-License-Identifier: Apache-2.0
/*
 * A cgroup path, and the same bytes as a /proc/PID/cgroup: names are chosen by whoever may make a
 * cgroup.
 */
#include <stdlib.h>
#include <string.h>

#include "workload/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct identity *identity)
{
	if (!identity->container_id[0] || !identity->container_name[0] ||
	    strnlen(identity->container_id, IDENTITY_NAME_MAX) == IDENTITY_NAME_MAX ||
	    strnlen(identity->container_name, IDENTITY_NAME_MAX) == IDENTITY_NAME_MAX ||
	    strcmp(identity->container_name, identity->pod_name) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct identity identity;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	identity_from_path(text, &identity);
	check(&identity);
	identity_from_proc_cgroup(text, &identity);
	check(&identity);
	free(text);
	return 0;
}
