// SPDX-License-Identifier: Apache-2.0
/*
 * Counters on the page: their names in each schema, and their sums. TEST_UPDATE_GOLDEN=1 rewrites
 * golden/counters-*.txt, which have the lines of counters alone.
 */
#include "export/catalog/catalog_counters.h"

#include "attribution/counters.h"
#include "base/file.h"
#include "export/prometheus.h"
#include "exposition_parser.h"
#include "fixture.h"
#include "tests/unit/unit.h"

static const enum signal counted[] = { SIGNAL_INSTRUCTIONS, SIGNAL_PAGE_CACHE_HITS,
				       SIGNAL_NET_BYTES };

static void render(const struct snapshot *snapshot, enum metrics_schema schema,
		   enum exposition exposition, struct strbuf *out)
{
	const struct page_options options = { .schema = schema };
	const struct page_format *format = &prometheus_pages.formats[exposition];
	struct label_cache *cache;

	assert_int_equal(label_cache_new(format->labels, NAMES_OF_PAGES, &cache), 0);
	assert_int_equal(page_render(format, snapshot, NULL, &options, cache, out), 0);
	label_cache_free(cache);
}

/* The lines that name a counter, as text. */
static void keep_counters(const char *page, struct strbuf *ret)
{
	for (size_t len; *page; page += len) {
		bool keep = false;

		len = strcspn(page, "\n") + 1;
		for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
			const char *found = strstr(page, signal_name(counted[i]));

			keep |= found && found < page + len;
		}
		if (keep)
			strbuf_add(ret, page, len);
	}
}

static void check_golden(enum metrics_schema schema, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT, kept = STRBUF_INIT;
	CLEANUP_FREE char *want = NULL;
	const char *root = getenv("TEST_SOURCE_ROOT");
	struct fixture fixture;
	char path[4096];
	size_t len;

	fixture_counters(&fixture);
	render(&fixture.snapshot, schema, EXPOSITION_TEXT, &page);
	fixture_release(&fixture);
	assert_true(exposition_parse(page.data, page.len, 0, NULL, NULL) > 0);
	keep_counters(page.data, &kept);
	(void)snprintf(path, sizeof(path), "%s/tests/unit/export/golden/%s", root ? root : ".",
		       name);
	if (getenv("TEST_UPDATE_GOLDEN"))
		assert_int_equal(write_file_atomic(path, kept.data, kept.len, 0644), 0);
	assert_int_equal(read_file_alloc(path, 1 << 20, &want, &len), 0);
	assert_string_equal(kept.data, want);
}

static void matches_the_golden_lines(void **state)
{
	check_golden(SCHEMA_CLASSIC, "counters-classic.txt");
	check_golden(SCHEMA_CURRENT, "counters-current.txt");
	check_golden(SCHEMA_BOTH, "counters-both.txt");
}

/* The value of one counter on a page. */
struct sums {
	const char *counter;
	uint64_t node, unattributed, rows[LEVEL_COUNT], retired[LEVEL_COUNT], pending[LEVEL_COUNT];
	size_t series[LEVEL_COUNT];
};

static bool is_named(const struct parsed_sample *sample, const char *before, const char *counter)
{
	char name[256];

	(void)snprintf(name, sizeof(name), "kepler_%s_%s_total", before, counter);
	return strcmp(sample->name, name) == 0;
}

static void add_to_sums(void *userdata, const struct parsed_sample *sample)
{
	struct sums *sums = userdata;
	uint64_t value = strtoull(sample->value, NULL, 10);
	char name[128];

	sums->node += is_named(sample, "node", sums->counter) ? value : 0;
	sums->unattributed += is_named(sample, "node_unattributed", sums->counter) ? value : 0;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const char *level_name = level_info[level].name;

		if (is_named(sample, level_name, sums->counter)) {
			sums->rows[level] += value;
			sums->series[level]++;
		}
		(void)snprintf(name, sizeof(name), "%s_retired", level_name);
		sums->retired[level] += is_named(sample, name, sums->counter) ? value : 0;
		(void)snprintf(name, sizeof(name), "kepler_pending_%s", sums->counter);
		if (strcmp(sample->name, name) == 0 &&
		    strcmp(parsed_label(sample, "level"), level_name) == 0)
			sums->pending[level] += value;
	}
}

static void sums_hold_on_the_text(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	struct fixture fixture;

	fixture_counters(&fixture);
	render(&fixture.snapshot, SCHEMA_CURRENT, EXPOSITION_OPENMETRICS, &page);
	assert_non_null(strstr(page.data, "# UNIT kepler_process_net_bytes bytes\n"));
	assert_non_null(strstr(page.data, "# UNIT kepler_pending_net_bytes bytes\n"));
	assert_null(strstr(page.data, "_instructions instructions\n"));
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		struct sums sums = { .counter = signal_name(counted[i]) };
		uint32_t column;

		assert_true(exposition_parse(page.data, page.len, 1, add_to_sums, &sums) > 0);
		column = layout_find(&fixture.layout, &signal_info[counted[i]]);
		assert_int_equal(sums.node, fixture.snapshot.column[column].node);
		assert_int_equal(sums.unattributed, 1000 + counted[i]);
		for (enum level level = LEVEL_PROCESS; level <= LEVEL_CONTAINER; level++)
			assert_int_equal(sums.rows[level] + sums.retired[level] +
						 sums.pending[level] + sums.unattributed,
					 sums.node);
		assert_int_equal(sums.series[LEVEL_PROCESS], 2);
		assert_int_equal(sums.series[LEVEL_POD], 2);
		assert_int_equal(sums.series[LEVEL_VM], 2);
	}
	fixture_release(&fixture);
}

/* An absent counter is not 0: neither one of several, nor all. */
static void what_is_not_counted_has_no_series(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT, none = STRBUF_INIT;
	struct fixture fixture;

	fixture_counters(&fixture);
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &page);
	assert_null(strstr(page.data, "cpu_cycles"));
	assert_null(strstr(page.data, "net_tx_irq"));
	fixture_release(&fixture);
	fixture_node(&fixture);
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &none);
	assert_null(strstr(none.data, "cpu_instructions"));
	fixture_release(&fixture);
}

static void helps_say_what_is_counted(void **state)
{
	static const struct family rows = { .name = "kepler_pod_<counter>",
					    .schemas = SCHEMA_BOTH,
					    .help = "Of the pod: <counter>." };
	struct counter_family family;

	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (!(SIGNALS_COUNTERS & SIGNAL_BIT(signal))) {
			assert_null(signal_info[signal].counted);
			continue;
		}
		assert_non_null(signal_info[signal].counted);
		counter_family(&rows, &signal_info[signal], &family);
		assert_null(strchr(family.family.help, '<'));
		assert_int_equal(family.help[strlen(family.help) - 1], '.');
		assert_true(strlen(family.help) > strlen("Of the pod: ."));
		assert_true(strlen(family.help) + 64 < sizeof(family.help));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_lines),
		cmocka_unit_test(sums_hold_on_the_text),
		cmocka_unit_test(what_is_not_counted_has_no_series),
		cmocka_unit_test(helps_say_what_is_counted),
	};

	return unit_run(tests);
}
