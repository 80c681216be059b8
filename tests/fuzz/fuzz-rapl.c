// SPDX-License-Identifier: Apache-2.0
/* Names, numbers and directory names of powercap zones. */
#include <stdlib.h>
#include <string.h>

#include "meter/rapl/rapl_name.h"
#include "meter/sysfs_number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), parent[ZONE_PATH_MAX];
	struct rapl_name name;
	uint64_t value;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (rapl_name_parse(text, size, &name) && strlen(name.package) >= ZONE_PACKAGE_MAX)
		abort();
	if (sysfs_number_parse(text, (ssize_t)size, &value) == 0 && text[size - 1] != '\n')
		abort();
	if (rapl_dir_parent(text, parent, sizeof(parent)) && strlen(parent) >= strlen(text))
		abort();
	(void)rapl_dir_is_mmio(text);
	free(text);
	return 0;
}
