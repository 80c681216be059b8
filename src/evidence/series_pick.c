// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_pick.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define LISTED_MAX 8

static void list_name(struct series_pick *pick, const char *name)
{
	if (pick->seen++ >= LISTED_MAX)
		return;
	strbuf_addf(&pick->names, "%s\"", pick->names.len > 0 ? ", " : "");
	strbuf_add_json(&pick->names, name);
	strbuf_add_char(&pick->names, '"');
}

int series_pick_begin(struct series_pick *pick, const char *name, const char *query)
{
	const char *full = *query ? query : name;
	list_name(pick, full);
	if (pick->words && !strstr(name, pick->words) && !strstr(query, pick->words))
		return 0;
	if (pick->fits++ > 0)
		return 0;
	pick->form = series_form_of(full, pick->kind);
	pick->series = series_new(*name ? name : query, pick->form.unit);
	if (!pick->series)
		return -ENOMEM;
	(void)snprintf(pick->series->source, sizeof(pick->series->source), "%s", pick->path);
	(void)snprintf(pick->series->query, sizeof(pick->series->query), "%s", query);
	return true;
}

int series_pick_end(struct series_pick *pick, struct series **ret, struct diag *diag)
{
	const char *more = pick->seen > LISTED_MAX ? " and others" : "";
	const char *names = pick->names.len > 0 ? pick->names.data : "";
	if (pick->seen == 0)
		return diag_set(diag, -ENOENT,
				"%s: contains no series; an artifact of upstream's validator, a "
				"range of Prometheus in JSON, CSV or a recording is expected",
				pick->path);
	if (pick->fits == 0)
		return diag_set(diag, -ENOENT,
				"%s: no series has \"%s\" in its name; there are %s%s", pick->path,
				pick->words, names, more);
	if (pick->fits > 1)
		return diag_set(diag, -ENOTUNIQ,
				"%s: %zu series fit; choose one with FILE#WORDS, such as a label's "
				"value: %s%s",
				pick->path, pick->fits, names, more);
	series_finish(pick->series);
	*ret = TAKE_PTR(pick->series);
	return 0;
}

void series_pick_release(struct series_pick *pick)
{
	series_free(pick->series);
	strbuf_release(&pick->names);
}
