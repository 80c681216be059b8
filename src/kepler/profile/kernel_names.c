// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>

void kernel_names_release(struct kernel_names *names)
{
	symbol_table_release(&names->table);
	names->is_read = false;
}

static void read_names(struct kernel_names *names)
{
	FILE *file = fopen(names->path, "re");
	char *line = NULL;
	size_t size = 0;

	names->is_read = true;
	if (!file)
		return;
	while (getline(&line, &size, file) > 0)
		(void)symbol_table_add_kallsyms(&names->table, line);
	free(line);
	(void)fclose(file);
}

uint32_t kernel_names_frame(struct kernel_names *names, struct profile *profile, uint64_t address)
{
	const struct symbol *symbol;

	if (!names->is_read)
		read_names(names);
	symbol = symbol_table_find(&names->table, address);
	return profile_frame(profile,
			     symbol ? symbol_table_name(&names->table, symbol) : "[kernel]",
			     FRAME_KERNEL);
}
