// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/row_options.h"

#include <stddef.h>

#define MEMORY_MIN 1U /* KiB */
#define MEMORY_MAX (2048U << 10)

const struct option row_rows_of_options[ROW_OPTION_COUNT] = {
	{ "memory", NULL, OPTION_SIZE, .offset = offsetof(struct row_values, memory),
	  .min = MEMORY_MIN, .max = MEMORY_MAX, .default_text = "16MiB", .metavar = "SIZE",
	  .only_flag = true,
	  .help = "How much memory rows of a CSV file can take. The file of more rows is read "
		  "again for each pass over them, with the same result." },
};
