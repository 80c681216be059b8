// SPDX-License-Identifier: Apache-2.0
/*
 * Short jobs in Prometheus: scraped every 15 s, the sum of increase() over the jobs' series is
 * their energy, in either schema. The first sample of a series counts for nothing.
 */
#include "exposition_parser.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "export/prometheus.h"
#include "export/text_sink.h"
#include "tests/unit/snapshot/stage.h"

#define JOBS       5
#define SCRAPE_S   15
#define END_S      420 /* beyond metrics.keep: the series are gone */
#define WATTS      20
#define SERIES_MAX 64
#define KEY_MAX    1024

static const struct page_options both = { .schema = SCHEMA_BOTH };

static const struct {
	uint64_t begin_s, length_s;
} jobs[JOBS] = { { 3, 6 }, { 11, 20 }, { 27, 9 }, { 44, 13 }, { 58, 16 } };

struct series {
	char key[KEY_MAX];
	uint64_t last_uj;
};

/* One family's increases over all of its series. */
struct counted {
	const char *family;
	struct series series[SERIES_MAX];
	size_t count;
	uint64_t increase_uj;
};

static void count_sample(void *userdata, const struct parsed_sample *sample)
{
	struct counted *counted = userdata;
	const char *comm = parsed_label(sample, "command");
	char key[KEY_MAX];
	uint64_t uj;

	comm = comm ? comm : parsed_label(sample, "comm");
	if (strcmp(sample->name, counted->family) != 0 || !comm || strcmp(comm, "job") != 0)
		return;
	assert_true(sample->key_len < sizeof(key));
	memcpy(key, sample->line, sample->key_len);
	key[sample->key_len] = '\0';
	assert_true(parsed_micros(sample->value, &uj));
	for (size_t i = 0; i < counted->count; i++) {
		struct series *series = &counted->series[i];

		if (strcmp(series->key, key) != 0)
			continue;
		counted->increase_uj += uj >= series->last_uj ? uj - series->last_uj : uj;
		series->last_uj = uj;
		return;
	}
	assert_true(counted->count < SERIES_MAX);
	memcpy(counted->series[counted->count].key, key, sizeof(key));
	counted->series[counted->count++].last_uj = uj;
}

static void run_jobs(struct stage *s, uint64_t now_s)
{
	for (uint32_t job = 0; job < JOBS; job++) {
		uint64_t begin_s = jobs[job].begin_s, end_s = begin_s + jobs[job].length_s;

		if (now_s <= begin_s || now_s > end_s)
			continue;
		(void)use(s, 100 + job, 100 + job, "job", WATTS * 1000000);
		if (now_s == end_s)
			ledger_end_process(s->ledger,
					   ledger_find_process(s->ledger, 100 + job, 100 + job));
	}
}

/* A snapshot of each second, a scrape of each fifteenth. */
static void scrape_all(struct counted *counted, size_t families)
{
	struct publisher_options options = default_options();
	struct label_cache *cache;
	struct strbuf page = STRBUF_INIT;
	struct stage s;

	open_stage(&s, &options);
	assert_int_equal(label_cache_new(text_labels, NAMES_OF_PAGES, &cache), 0);
	for (uint64_t now_s = 1; now_s <= END_S; now_s++) {
		run_jobs(&s, now_s);
		publish(&s, 1);
		if (now_s % SCRAPE_S != 0)
			continue;
		strbuf_reset(&page);
		assert_int_equal(page_render(prometheus_pages.formats, s.snapshot, NULL, &both,
					     cache, &page),
				 0);
		for (size_t i = 0; i < families; i++)
			assert_true(exposition_parse(page.data, page.len, false, count_sample,
						     &counted[i]) > 0);
	}
	strbuf_release(&page);
	label_cache_free(cache);
	close_stage(&s);
}

static void test_short_jobs_count_in_both_schemas(void **state)
{
	static struct counted counted[] = {
		{ .family = "kepler_process_package_joules_total" },
		{ .family = "kepler_process_cpu_joules_total" },
	};
	uint64_t used_uj = 0;

	(void)state;
	for (size_t job = 0; job < JOBS; job++)
		used_uj += jobs[job].length_s * WATTS * 1000000;
	scrape_all(counted, ARRAY_SIZE(counted));
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		assert_int_equal(counted[i].count, JOBS);
		assert_int_equal(counted[i].increase_uj, used_uj);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_jobs_count_in_both_schemas),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
