// SPDX-License-Identifier: Apache-2.0
/* Writes docs/metrics.md (or the file that the argument names) from the table of metrics. */
#include <stdio.h>

#include "base/file.h"
#include "base/macro.h"
#include "export/catalog/catalog.h"
#include "kepler/health_table.h"

int main(int argc, char **argv)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *path = argc > 1 ? argv[1] : "docs/metrics.md";
	int r = metric_reference(health_table_part, &text);

	if (r == 0)
		r = write_file_atomic(path, text.data, text.len, 0644);
	if (r < 0)
		(void)fprintf(stderr, "%s: %s\n", path, strerror(-r));
	return r < 0 ? 1 : 0;
}
