// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/gpu_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void gpu_rows_begin(struct gpu_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].is_there = false;
}

/* A number of the driver, and not a UUID or an address. */
static bool is_index(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

static struct gpu_row *take_row(struct gpu_rows *rows, const char *uuid, const char *index)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->items[i].uuid, uuid) == 0 &&
		    strcmp(rows->items[i].index, index) == 0)
			return &rows->items[i];
	if (rows->count == GPU_ROWS_MAX)
		return NULL;
	struct gpu_row *row = &rows->items[rows->count++];
	*row = (struct gpu_row){ .joules = 0 };
	(void)snprintf(row->uuid, sizeof(row->uuid), "%s", uuid);
	(void)snprintf(row->index, sizeof(row->index), "%s", index);
	return row;
}

void gpu_rows_take(struct gpu_rows *rows, const struct page_series *series, double joules)
{
	const char *uuid = page_label(series, "gpu_uuid"), *index = page_label(series, "gpu");
	const char *package = page_label(series, "package");
	struct gpu_row *row = NULL;

	if (!*uuid && !*index) {
		uuid = is_index(package) ? "" : package;
		index = is_index(package) ? package : "";
	}
	if ((*uuid || *index) && strlen(uuid) < GPU_ROW_NAME_MAX &&
	    strlen(index) < GPU_ROW_NAME_MAX)
		row = take_row(rows, uuid, index);
	if (!row) {
		rows->are_incomplete = true;
		return;
	}
	row->joules += joules;
	row->is_there = true;
}

int gpu_rows_end(struct gpu_rows *rows, const char *source, double time_s)
{
	int r = 0;

	for (size_t i = 0; i < rows->count && r == 0; i++) {
		struct gpu_row *row = &rows->items[i];

		if (!row->series && !row->is_there)
			continue;
		if (!row->series) {
			char name[2 * GPU_ROW_NAME_MAX + 16];

			(void)snprintf(name, sizeof(name), "node/gpu %s %s", row->index, row->uuid);
			row->series = series_new(name, "W");
			if (!row->series)
				return -ENOMEM;
			(void)snprintf(row->series->source, sizeof(row->series->source), "%s",
				       source);
		}
		r = series_add_counter(row->series, time_s, row->joules);
	}
	return r;
}

void gpu_rows_finish(struct gpu_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].series)
			series_finish(rows->items[i].series);
}

void gpu_rows_release(struct gpu_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		series_free(rows->items[i].series);
	rows->count = 0;
}

const struct gpu_row *gpu_rows_find(const struct gpu_rows *rows, const char *uuid, unsigned index)
{
	const struct gpu_row *by_index = NULL;
	char number[16];
	bool has_uuids = false;

	(void)snprintf(number, sizeof(number), "%u", index);
	for (size_t i = 0; i < rows->count; i++) {
		const struct gpu_row *row = &rows->items[i];

		if (*uuid && strcmp(row->uuid, uuid) == 0)
			return row;
		has_uuids |= *row->uuid;
		if (strcmp(row->index, number) == 0)
			by_index = row;
	}
	return *uuid && has_uuids ? NULL : by_index;
}
