// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of pods beyond their energy, and how those who give containers their names are
 * doing. A source that is not configured has no series; one that has not answered yet has no age.
 */
#include <math.h>
#include <string.h>

#include "export/render.h"

/* Facts that arrive late or change are labels of info metrics: there they end no counter. */
void emit_pod_info(struct render *render, const struct metric *metric)
{
	const struct row_view *view = &render->rows[LEVEL_POD][ROWS_LIVING];

	(void)metric;
	for (uint32_t row = 0; row < view->count; row++) {
		const struct ledger_owner *owner = view->rows[row].labels->owner;
		const struct row_text *labels = &view->texts[NAMES_CURRENT][row];

		if (!labels->text || !owner->pod_id[0])
			continue; /* hangs on an earlier row; pods for which there was no room */
		sample_begin(&render->w);
		sample_labels(&render->w, labels->text, labels->len);
		sample_label(&render->w, "qos_class",
			     view->rows[row].pod_qos ? view->rows[row].pod_qos : "");
		sample_end(&render->w, 1, 0, 0);
	}
}

static void begin(struct render *render, const struct snapshot_name_source *source)
{
	sample_begin(&render->w);
	sample_label(&render->w, "source", source->source);
}

void emit_names_up(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (size_t i = 0; i < SNAPSHOT_NAME_SOURCES; i++) {
		const struct snapshot_name_source *source = &render->snapshot->self.names[i];

		if (!source->source[0])
			continue;
		begin(render, source);
		sample_label(&render->w, "via", source->via);
		sample_end(&render->w, source->up, 0, render->start_ms);
	}
}

void emit_names_age(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (size_t i = 0; i < SNAPSHOT_NAME_SOURCES; i++) {
		const struct snapshot_name_source *source = &render->snapshot->self.names[i];

		if (!source->source[0] || isnan(source->age_s))
			continue;
		begin(render, source);
		sample_end_double(&render->w, source->age_s, render->start_ms);
	}
}

/* The detail is an offset into struct snapshot_name_source. */
void emit_names_u64(struct render *render, const struct metric *metric)
{
	for (size_t i = 0; i < SNAPSHOT_NAME_SOURCES; i++) {
		const struct snapshot_name_source *source = &render->snapshot->self.names[i];
		uint64_t value;

		if (!source->source[0])
			continue;
		memcpy(&value, (const char *)source + metric->detail, sizeof(value));
		begin(render, source);
		sample_end(&render->w, value, 0, render->start_ms);
	}
}

void emit_names_lookups(struct render *render, const struct metric *metric)
{
	const struct snapshot_self *self = &render->snapshot->self;
	const struct {
		const char *result;
		uint64_t count;
	} counts[] = {
		{ "found", self->names_found },
		{ "unknown", self->names_unknown },
		{ "refused", self->names_refused },
	};
	bool any = false;

	(void)metric;
	for (size_t i = 0; i < SNAPSHOT_NAME_SOURCES; i++)
		any |= self->names[i].source[0] != '\0';
	for (size_t i = 0; any && i < sizeof(counts) / sizeof(counts[0]); i++) {
		sample_begin(&render->w);
		sample_label(&render->w, "result", counts[i].result);
		sample_end(&render->w, counts[i].count, 0, render->start_ms);
	}
}
