// SPDX-License-Identifier: Apache-2.0
#include "record/record_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "record/record_reader.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/record/sample.h"
#include "tests/unit/unit.h"

struct place {
	char dir[64], file[80];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	*state = place;
	(void)snprintf(place->dir, sizeof(place->dir), "/tmp/kepler-store-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	(void)snprintf(place->file, sizeof(place->file), "%s/a.krec", place->dir);
	return 0;
}

static int tear_down(void **state)
{
	int r = remove_tree(((struct place *)*state)->dir);

	free(*state);
	return r;
}

static bool put(struct record_store *store, bool is_complete)
{
	struct strbuf records = STRBUF_INIT;

	if (is_complete)
		sample_definitions(&records);
	sample_interval(&records);
	return record_store_put(store, &records, is_complete);
}

static void count(const char *path, uint64_t *ret_intervals, struct recorded_end *ret_end)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct diag diag = { "" };

	*ret_intervals = 0;
	*ret_end = (struct recorded_end){ 0 };
	assert_int_equal(record_reader_open(path, &reader, &diag), 0);
	while (record_reader_next(reader, record, &diag) > 0) {
		*ret_intervals += record->type == RECORD_INTERVAL;
		if (record->type == RECORD_END)
			*ret_end = record->end;
	}
	assert_string_equal(diag.text, "");
	record_reader_close(reader);
}

/* One file, of at most @max_bytes. */
static struct record_store *open_file_store(const struct place *place, uint64_t max_bytes)
{
	struct record_store *store;
	const struct record_store_options options = { .file = place->file,
						      .fd = record_store_create(place->file, NULL),
						      .max_bytes = max_bytes };

	assert_true(options.fd >= 0);
	assert_int_equal(record_store_open(&options, &store, NULL), 0);
	return store;
}

static void all_is_written(void **state)
{
	const struct place *place = *state;
	struct record_store_stats stats;
	struct record_store *store = open_file_store(place, 0);
	struct strbuf spare = STRBUF_INIT;
	struct recorded_end last;
	uint64_t intervals;

	assert_true(record_store_needs_definitions(store));
	for (int i = 0; i < 20; i++)
		assert_true(put(store, i == 0));
	assert_false(record_store_needs_definitions(store));
	record_store_recycle(store, &spare);
	strbuf_release(&spare);
	assert_int_equal(record_store_close(store, 30 * NSEC_PER_SEC, &stats), 0);
	assert_int_equal(stats.intervals, 20);
	assert_int_equal(stats.lost, 0);
	count(place->file, &intervals, &last);
	assert_int_equal(intervals, 20);
	assert_int_equal(last.intervals, 20);
}

static void no_file_is_overwritten(void **state)
{
	const struct place *place = *state;
	struct diag diag = { "" };

	assert_int_equal(record_store_close(open_file_store(place, 0), 30 * NSEC_PER_SEC, NULL), 0);
	assert_int_equal(record_store_create(place->file, &diag), -EEXIST);
	assert_non_null(strstr(diag.text, "exists already"));
}

/* Intervals for which the queue has no room are dropped at once. */
static void what_does_not_fit_is_dropped(void **state)
{
	const struct place *place = *state;
	const struct record_store_options options = { .dir = place->dir,
						      .keep_ms = 3600000,
						      .max_bytes = 1U << 20 };
	struct record_store_stats stats;
	struct record_store *store;
	struct strbuf huge = STRBUF_INIT;
	bool fits = true;

	assert_int_equal(record_store_open(&options, &store, NULL), 0);
	assert_true(strbuf_reserve(&huge, RECORD_QUEUE_BYTES + 2));
	memset(huge.data, 0, RECORD_QUEUE_BYTES + 1);
	huge.len = RECORD_QUEUE_BYTES + 1;
	fits = record_store_put(store, &huge, true);
	assert_false(fits); /* more than the queue has room for */
	assert_true(record_store_needs_definitions(store));
	assert_null(huge.data);
	assert_true(put(store, true));
	record_store_get_stats(store, &stats);
	assert_int_equal(stats.lost, 1);
	assert_int_equal(record_store_close(store, 30 * NSEC_PER_SEC, &stats), 0);
	assert_int_equal(stats.intervals, 1);
}

/* Without memory for an interval it is lost, and the next comes with all definitions. */
static void what_failed_is_lost(void **state)
{
	const struct place *place = *state;
	struct strbuf failed = { .failed = true };
	struct record_store_stats stats;
	struct record_store *store = open_file_store(place, 0);
	struct recorded_end last;
	uint64_t intervals;

	assert_true(put(store, true));
	assert_false(record_store_put(store, &failed, false));
	assert_true(record_store_needs_definitions(store));
	assert_true(put(store, true));
	assert_int_equal(record_store_close(store, 30 * NSEC_PER_SEC, &stats), 0);
	assert_int_equal(stats.lost, 1);
	count(place->file, &intervals, &last);
	assert_int_equal(intervals, 2);
	assert_int_equal(last.lost, 1);
}

static void at_its_limit_a_file_ends(void **state)
{
	const struct place *place = *state;
	struct record_store_stats stats;
	struct record_store *store = open_file_store(place, 64);
	struct stat info;

	assert_true(put(store, true));
	assert_int_equal(record_store_close(store, 30 * NSEC_PER_SEC, &stats), 0);
	assert_int_equal(stats.intervals, 0);
	assert_int_equal(stats.lost, 1);
	assert_non_null(strstr(stats.error, "a.krec: cannot be written: File too large"));
	assert_int_equal(stat(place->file, &info), 0);
	assert_true(info.st_size <= 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_is_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_file_is_overwritten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_failed_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(at_its_limit_a_file_ends, set_up, tear_down),
	};

	return unit_run(tests);
}
