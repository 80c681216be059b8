// SPDX-License-Identifier: Apache-2.0
#include "kepler/health_table.h"

#include <ctype.h>

#include "base/file.h"
#include "export/catalog/catalog_walk.h"
#include "export/text_sink.h"
#include "tests/unit/unit.h"

#define METRICS_MAX 512

static size_t all_metrics(const struct health_metric *ret[METRICS_MAX])
{
	const struct health_part *part;
	size_t count = 0;

	for (size_t i = 0; (part = health_table_part(i)); i++) {
		for (size_t m = 0; m < part->metric_count; m++) {
			assert_true(count < METRICS_MAX);
			ret[count++] = &part->metrics[m];
		}
	}
	return count;
}

static void check_words(const struct health_metric *metric)
{
	const char *unit = metric->unit ? metric->unit : "";
	size_t name_len = strlen(metric->name), help_len = strlen(metric->help);

	if (name_len + 8 >= FAMILY_NAME_MAX || strlen(unit) >= name_len ||
	    strcmp(metric->name + name_len - strlen(unit), unit) != 0 ||
	    strstr(metric->name, "_total") || strstr(metric->name, "_info") ||
	    strncmp(metric->name, "kepler_", 7) != 0)
		fail_msg("%s", metric->name);
	if ((!isupper((unsigned char)metric->help[0]) && strncmp(metric->help, "1 if ", 5) != 0) ||
	    strpbrk(metric->help, "\n\\|") || metric->help[help_len - 1] != '.')
		fail_msg("help of %s", metric->name);
}

static void names_follow_the_conventions(void **state)
{
	const struct health_metric *metrics[METRICS_MAX];
	const struct family *family;
	size_t count = all_metrics(metrics);

	for (size_t i = 0; i < count; i++) {
		check_words(metrics[i]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(metrics[j]->name, metrics[i]->name);
		for (size_t j = 0; (family = catalog_at(j)); j++)
			assert_string_not_equal(family->name, metrics[i]->name);
	}
}

static size_t width_of(unsigned type)
{
	if (type == AS_BOOL)
		return sizeof(bool);
	return type == AS_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* Returns true if @value is inside @size bytes, and no metric before it has taken a byte of it. */
static void take(unsigned char *taken, size_t size, size_t offset, size_t width, const char *name)
{
	assert_true(offset + width <= size);
	for (size_t i = offset; i < offset + width; i++) {
		if (taken[i]++)
			fail_msg("%s shows the member of another metric", name);
	}
}

static void take_values(unsigned char *taken, size_t size, const struct health_metric *metric)
{
	const struct health_variant *variant = metric->variants;

	if (metric->type == FAMILY_HISTOGRAM)
		take(taken, size, metric->value.offset, sizeof(struct health_histogram),
		     metric->name);
	else if (metric->type != FAMILY_INFO && !variant)
		take(taken, size, metric->value.offset, width_of(metric->value.type), metric->name);
	assert_true(metric->type != FAMILY_HISTOGRAM || metric->bounds);
	assert_true(!variant || metric->variant_label);
	for (; variant && variant->text; variant++)
		take(taken, size, variant->value.offset, width_of(variant->value.type),
		     metric->name);
}

/* Labels are shared; a value that two metrics show is the wrong one in one of them. */
static void each_metric_shows_a_member_of_its_own(void **state)
{
	const struct health_part *part;

	for (size_t i = 0; (part = health_table_part(i)); i++) {
		unsigned char *taken = calloc(1, part->size), *of_elements = calloc(1, part->size);

		for (size_t m = 0; m < part->metric_count; m++) {
			const struct health_metric *metric = &part->metrics[m];

			if (metric->array)
				take_values(of_elements, metric->array->element_size, metric);
			else
				take_values(taken, part->size, metric);
		}
		free(taken);
		free(of_elements);
	}
}

static void the_reference_is_current(void **state)
{
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;
	CLEANUP_FREE char *have = NULL;
	const char *root = getenv("TEST_SOURCE_ROOT");
	char path[4096];
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "%s/docs/metrics.md", root ? root : ".");
	assert_int_equal(metric_reference(health_table_part, &want), 0);
	if (read_file_alloc(path, 1 << 20, &have, &len) < 0 || strcmp(have, want.data) != 0) {
		print_error("docs/metrics.md differs from the tables of metrics: build and run "
			    "ninja -C DIR docs-update\n");
		fail();
	}
}

/* Without a program: parts that do not exist have no point. */
static void parts_that_do_not_exist_are_not_shown(void **state)
{
	struct health_source sources[HEALTH_TABLE_MAX] = { 0 };
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	struct snapshot snapshot = { 0 };
	const struct catalog_view view = { .snapshot = &snapshot };
	struct text_sink sink;
	void *memory;
	size_t count = 0;

	for (; (sources[count].part = health_table_part(count)); count++)
		;
	memory = malloc(health_size(sources, count));
	snapshot.health = health_fill(sources, count, memory);
	snapshot.health_count = (uint32_t)count;
	text_sink_init(&sink, &page, TEXT_PROMETHEUS, false);
	catalog_walk(&view, SCHEMA_BOTH, &sink.sink);
	assert_int_equal(text_sink_finish(&sink), 0);
	assert_null(strstr(page.data, "kepler_exporter_config_reloads"));
	assert_null(strstr(page.data, "kepler_exporter_tasks_walked"));
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_follow_the_conventions),
		cmocka_unit_test(each_metric_shows_a_member_of_its_own),
		cmocka_unit_test(the_reference_is_current),
		cmocka_unit_test(parts_that_do_not_exist_are_not_shown),
	};

	return unit_run(tests);
}
