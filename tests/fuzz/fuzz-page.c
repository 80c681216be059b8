// SPDX-License-Identifier: Apache-2.0
/* Pages of exporters, as kepler-validator reads them: names are not empty, faults have a line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/pages/energy_metric.h"
#include "evidence/pages/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_series(void *userdata, const struct page_series *series)
{
	size_t *len = userdata;
	struct energy_metric metric;

	if (!*series->name || series->label_count > PAGE_LABELS_MAX)
		abort();
	for (size_t i = 0; i < series->label_count; i++)
		if (strlen(series->label_name[i]) + strlen(series->label_value[i]) > *len)
			abort();
	for (int kind = EXPORTER_UNKNOWN; kind < EXPORTER_KINDS; kind++)
		if (energy_metric_find((enum exporter_kind)kind, series, &metric) && !*metric.zone)
			abort();
	return 0;
}

static int check_type(void *userdata, const char *metric, const char *type)
{
	size_t *len = userdata;

	return strlen(metric) + strlen(type) > *len ? abort(), 1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct page_sink sink = { &size, check_type, check_series };
	struct diag diag = { "" };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	int r = page_read(text, size, &sink, &diag);
	if ((r < 0) != (diag.text[0] != '\0'))
		abort();
	free(text);
	return 0;
}
