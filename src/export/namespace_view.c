// SPDX-License-Identifier: Apache-2.0
#include "export/namespace_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define NAME_MAX_LEN 63 /* of a DNS label, RFC 1123 */

bool namespace_view_is_name(const char *text)
{
	static const char *const none[] = { "system", "kernel", "unknown" };
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		if (strcmp(text, none[i]) == 0)
			return false;
	}
	return len > 0 && len <= NAME_MAX_LEN && !text[len] && text[0] != '-' &&
	       text[len - 1] != '-';
}

static bool is_shown(const struct snapshot_row *row, const char *name)
{
	return strcmp(row->labels->names->text[LABEL_NAMESPACE], name) == 0;
}

/* 0 or -ENOMEM. Rows that are chained have equal labels, so that a chain is shown whole or not. */
static int restrict_rows(struct row_view *rows, const char *name,
			 struct row_text *ret_texts[NAMES_COUNT])
{
	size_t shown = 0;

	for (enum row_names names = 0; names < NAMES_COUNT; names++) {
		struct row_text *texts;

		if (!rows->texts[names] || !rows->count)
			continue;
		texts = calloc(rows->count, sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		for (size_t i = 0; i < rows->count; i++) {
			if (!is_shown(&rows->rows[i], name))
				continue;
			texts[i] = rows->texts[names][i];
			shown++;
		}
		rows->texts[names] = ret_texts[names] = texts;
	}
	/* A family without any row leaves no trace. */
	if (!shown)
		rows->count = 0;
	return 0;
}

int namespace_view_restrict(struct catalog_view *view, const char *name, struct namespace_view *ret)
{
	view->rows_only = true;
	view->http = NULL;
	view->levels =
		LEVEL_BIT(LEVEL_CONTAINER) | LEVEL_BIT(LEVEL_POD) | LEVEL_BIT(LEVEL_NAMESPACE);
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		for (size_t kind = 0; kind < 2; kind++) {
			struct row_view *rows = &view->rows[level][kind];
			int r = view->levels & LEVEL_BIT(level)
					? restrict_rows(rows, name, ret->texts[level][kind])
					: 0;

			if (r < 0)
				return r;
			if (!(view->levels & LEVEL_BIT(level)))
				rows->count = 0;
		}
	}
	return 0;
}

void namespace_view_release(struct namespace_view *memory)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		for (size_t kind = 0; kind < 2; kind++) {
			for (enum row_names names = 0; names < NAMES_COUNT; names++)
				free(memory->texts[level][kind][names]);
		}
	}
}
