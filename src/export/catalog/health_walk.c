// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/health_walk.h"

#include <math.h>
#include <string.h>

#include "export/catalog/value_read.h"

struct family health_family(const struct health_metric *metric)
{
	return (struct family){
		.name = metric->name,
		.type = metric->type,
		.unit = metric->unit ? metric->unit : "",
		.schemas = SCHEMA_BOTH,
		.of = OF_PART,
		.help = metric->help,
	};
}

static struct histogram histogram_of(const struct health_histogram *from, const double *bounds)
{
	return (struct histogram){ bounds, from->counts, HEALTH_BUCKETS_MAX, from->count,
				   from->sum };
}

/* One element of an array, or the part's struct itself. */
static void put_points(const struct health_metric *metric, const char *base, int64_t created_ms,
		       struct sink *sink)
{
	struct label_pair texts[HEALTH_LABELS_MAX + 1];
	struct point point = { .created_ms = created_ms, .labels = { .labels = texts } };
	struct histogram histogram;

	for (const struct health_label *label = metric->labels; label && label->name; label++)
		texts[point.labels.count++] =
			(struct label_pair){ label->name, base + label->offset };
	if (metric->type == FAMILY_HISTOGRAM) {
		const void *member = base + metric->value.offset;

		histogram = histogram_of(member, metric->bounds);
		point.histogram = &histogram;
		sink->point(sink, &point);
		return;
	}
	if (!metric->variants) {
		point.value = value_read(base, metric->value.offset, metric->value.type);
		if (!point.value.is_real || !isnan(point.value.real))
			sink->point(sink, &point);
		return;
	}
	point.labels.count++;
	for (const struct health_variant *one = metric->variants; one->text; one++) {
		texts[point.labels.count - 1] =
			(struct label_pair){ metric->variant_label, one->text };
		point.value = value_read(base, one->value.offset, one->value.type);
		sink->point(sink, &point);
	}
}

static void walk_metric(const struct health_metric *metric, const char *base, int64_t created_ms,
			struct sink *sink)
{
	const struct health_array *array = metric->array;
	uint32_t count = 1;

	if (array) {
		memcpy(&count, base + array->count_offset, sizeof(count));
		base += array->offset;
	}
	for (uint32_t i = 0; i < count; i++)
		put_points(metric, base + (array ? (size_t)i * array->element_size : 0), created_ms,
			   sink);
}

void health_walk(const struct catalog_view *view, struct sink *sink)
{
	for (uint32_t i = 0; i < view->snapshot->health_count; i++) {
		const struct health_block *block = &view->snapshot->health[i];

		for (size_t m = 0; block->data && m < block->part->metric_count; m++) {
			const struct health_metric *metric = &block->part->metrics[m];
			const struct family family = health_family(metric);

			sink->family(sink, &family, family.name);
			walk_metric(metric, block->data, view->start_ms, sink);
		}
	}
}
