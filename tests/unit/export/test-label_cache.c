// SPDX-License-Identifier: Apache-2.0
#include "base/hostile.h"
#include "export/label_cache.h"
#include "export/text_sink.h"
#include "fixture.h"
#include "tests/unit/unit.h"

static const struct fixture_shape shape = { .zones = 1, .containers = 2, .processes = 5 };

static void keeps_a_text_while_the_serial_stays(void **state)
{
	struct row_view views[LEVEL_COUNT][2];
	const struct row_view *processes = &views[LEVEL_PROCESS][0];
	struct label_cache *cache;
	struct fixture fixture;
	const char *before;

	fixture_make(&fixture, &shape);
	assert_int_equal(label_cache_new(text_labels, NAMES_OF_PAGES, &cache), 0);
	assert_int_equal(label_cache_view(cache, &fixture.snapshot, views), 0);
	before = processes->texts[0][4].text;
	assert_memory_equal(before, "pid=\"1004\",command=\"worker-4\"", 29);
	assert_int_equal(label_cache_view(cache, &fixture.snapshot, views), 0);
	if (!HOSTILE) /* there nothing is kept */
		assert_ptr_equal(processes->texts[0][4].text, before);

	fixture.labels[LEVEL_PROCESS][4].serial++; /* another row in the same slot */
	fixture.labels[LEVEL_PROCESS][4].pid = 99;
	assert_int_equal(label_cache_view(cache, &fixture.snapshot, views), 0);
	assert_memory_equal(processes->texts[0][4].text, "pid=\"99\",", 9);
	label_cache_free(cache);
	fixture_release(&fixture);
}

static void chains_rows_with_equal_labels(void **state)
{
	struct row_view views[LEVEL_COUNT][2];
	const struct row_view *processes = &views[LEVEL_PROCESS][0];
	struct label_cache *cache;
	struct fixture fixture;
	uint64_t cells[] = { 1, 0, 10, 0, 100, 0, 1000, 0, 10000, 0 };

	fixture_make(&fixture, &shape);
	fixture.labels[LEVEL_PROCESS][4] = fixture.labels[LEVEL_PROCESS][2];
	fixture.labels[LEVEL_PROCESS][4].slot = 4;
	fixture.labels[LEVEL_PROCESS][4].serial = 12345;
	assert_int_equal(label_cache_new(text_labels, NAMES_OF_PAGES, &cache), 0);
	assert_int_equal(label_cache_view(cache, &fixture.snapshot, views), 0);
	assert_null(processes->texts[0][4].text);
	assert_non_null(processes->texts[0][2].text);
	assert_int_equal(row_view_value(processes, cells, 2, 0), 10100);
	assert_int_equal(row_view_value(processes, cells, 3, 0), 1000);
	label_cache_free(cache);
	label_cache_free(NULL);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_a_text_while_the_serial_stays),
		cmocka_unit_test(chains_rows_with_equal_labels),
	};

	return unit_run(tests);
}
