// SPDX-License-Identifier: Apache-2.0
/* A snapshot made by hand, as messages, which are read back. */
#include "export/remote-write/write_sink.h"

#include "base/protobuf_writer.h"
#include "export/catalog/catalog_walk.h"
#include "export/remote-write/write_ended.h"
#include "export/remote-write/write_reader.h"
#include "tests/unit/export/fixture.h"
#include "tests/unit/export/snappy_content.h"
#include "tests/unit/unit.h"

#define TIME_MS 1700000000123

static const struct label_pair externals[] = { { "Zone", "z", false },
					       { "container_name", "mine", false },
					       { "mode", "mine", false } };
static const struct write_sink_options all = { .externals = externals, .external_count = 3 };

struct taking {
	struct write_ended *ended; /* NULL: nothing is kept */
	struct strbuf messages[8];
	size_t count;
};

static int take(void *userdata, const struct write_batch *batch)
{
	struct taking *taking = userdata;

	struct strbuf message = STRBUF_INIT;
	int r = 0;

	assert_int_equal(write_batch_finish(batch, &taking->messages[taking->count++]), 0);
	if (taking->ended) {
		assert_int_equal(write_batch_finish(batch, &message), 0);
		r = write_ended_keep(taking->ended, batch, &message);
		strbuf_release(&message);
	}
	return r;
}

static void taking_release(struct taking *taking)
{
	for (size_t i = 0; i < taking->count; i++)
		strbuf_release(&taking->messages[i]);
	taking->count = 0;
}

static void walk(struct write_sink *sink, struct label_cache *labels,
		 const struct snapshot *snapshot, int64_t time_ms)
{
	struct catalog_view view = { .snapshot = snapshot };

	assert_int_equal(label_cache_view(labels, snapshot, view.rows), 0);
	write_sink_begin(sink, time_ms);
	catalog_walk(&view, SCHEMA_BOTH, &sink->sink);
	assert_int_equal(write_sink_finish(sink), 0);
}

static bool is_text(const struct write_reader *reader, uint32_t ref, const char *text)
{
	return reader->symbols[ref].len == strlen(text) &&
	       memcmp(reader->symbols[ref].at, text, strlen(text)) == 0;
}

/* The value of a label, or 0, which is "". */
static uint32_t label_of(const struct write_reader *reader, const struct write_reading *series,
			 const char *name)
{
	for (size_t i = 0; i < series->label_count; i++) {
		if (is_text(reader, series->refs[2 * i], name))
			return series->refs[2 * i + 1];
	}
	return 0;
}

static void assert_sorted(const struct write_reader *reader, const struct write_reading *series)
{
	for (size_t i = 1; i < series->label_count; i++) {
		const struct protobuf *a = &reader->symbols[series->refs[2 * i - 2]];
		const struct protobuf *b = &reader->symbols[series->refs[2 * i]];
		int r = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);

		assert_true(r < 0 || (r == 0 && a->len < b->len));
		assert_int_not_equal(b->len, 0);
	}
}

static void every_series_is_whole(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	struct write_reading series;
	struct taking taking = { 0 };
	struct label_cache *labels;
	struct write_sink sink;
	struct fixture fixture;
	unsigned count = 0, births = 0, own_modes = 0, own_names = 0, buckets = 0;

	fixture_node(&fixture);
	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	walk(&sink, labels, &fixture.snapshot, TIME_MS);
	assert_int_equal(taking.count, 1);
	assert_int_equal(
		write_reader_open(&reader, taking.messages[0].data, taking.messages[0].len), 0);
	while (write_reader_next(&reader, &series) > 0) {
		assert_sorted(&reader, &series);
		assert_int_equal(series.time_ms, TIME_MS);
		assert_int_not_equal(series.type, 0);
		assert_int_not_equal(series.help, 0);
		assert_true(is_text(&reader, label_of(&reader, &series, "Zone"), "z"));
		own_modes += !is_text(&reader, label_of(&reader, &series, "mode"), "mine");
		own_names +=
			!is_text(&reader, label_of(&reader, &series, "container_name"), "mine");
		assert_int_not_equal(label_of(&reader, &series, "__name__"), 0);
		births += series.start_ms != 0;
		assert_true(series.start_ms == 0 || series.type == WRITE_TYPE_COUNTER ||
			    series.type == WRITE_TYPE_HISTOGRAM);
		buckets += label_of(&reader, &series, "le") != 0;
		count++;
	}
	assert_true(count > 100 && births > 20 && own_modes > 20 && own_names > 2);
	assert_true(buckets > 2);
	write_sink_release(&sink);
	label_cache_free(labels);
	taking_release(&taking);
	fixture_release(&fixture);
}

static void globs_choose_families(void **state)
{
	char keep[] = "kepler_node_*", drop[] = "*_dram_*";
	char *keeps[] = { keep }, *drops[] = { drop };
	const struct write_sink_options options = {
		.keep = keeps, .keep_count = 1, .drop = drops, .drop_count = 1
	};

	assert_true(write_family_is_kept(&options, "kepler_node_package_joules_total"));
	assert_false(write_family_is_kept(&options, "kepler_node_dram_joules_total"));
	assert_false(write_family_is_kept(&options, "kepler_container_joules_total"));
	assert_true(write_family_is_kept(&all, "kepler_container_joules_total"));
}

static void a_series_that_is_gone_gets_one_marker(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	struct write_ended ended = { 0 };
	struct write_reading series;
	struct taking taking = { .ended = &ended };
	struct label_cache *labels;
	struct write_sink sink;
	struct fixture fixture;
	unsigned marks = 0;

	fixture_node(&fixture);
	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	for (int round = 0; round < 3; round++) {
		if (round == 1) /* the last process is gone */
			fixture.snapshot.level[LEVEL_PROCESS].count--;
		taking_release(&taking);
		taking.ended = &ended;
		walk(&sink, labels, &fixture.snapshot, TIME_MS + round);
		taking.ended = NULL;
		assert_int_equal(write_ended_mark(&ended, &sink), 0);
		assert_int_equal(write_sink_finish(&sink), 0);
		write_ended_next(&ended);
		assert_int_equal(taking.count, round == 1 ? 2 : 1);
		if (round != 1)
			continue;
		assert_int_equal(
			write_reader_open(&reader, taking.messages[1].data, taking.messages[1].len),
			0);
		while (write_reader_next(&reader, &series) > 0) {
			assert_int_equal(series.value_bits, WRITE_STALE_BITS);
			assert_int_equal(series.time_ms, TIME_MS + 1);
			assert_int_not_equal(label_of(&reader, &series, "pid"), 0);
			assert_sorted(&reader, &series);
			marks++;
		}
	}
	assert_true(marks > 1);
	write_sink_release(&sink);
	write_ended_release(&ended);
	label_cache_free(labels);
	taking_release(&taking);
	fixture_release(&fixture);
}

/* The content of the next block by 1.0. */
static int next_1(struct write_reader *reader, uint32_t max_series, size_t max_bytes,
		  struct strbuf *out)
{
	CLEANUP(snappy_writer_release) struct snappy_writer writer = { 0 };
	int r = write_convert_to_1(reader, max_series, max_bytes, &writer);
	const char *block;
	size_t len;

	if (r > 0) {
		block = snappy_writer_finish(&writer, &len);
		assert_non_null(block);
		(void)snappy_content(block, len, out);
	}
	return r;
}

/* As 1.0, in which nothing depends on the order of symbols. */
static void as_1(const struct strbuf *message, struct strbuf *out)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };

	assert_int_equal(write_reader_open(&reader, message->data, message->len), 0);
	assert_true(next_1(&reader, WRITE_SERIES_MAX, WRITE_MESSAGE_MAX, out) > 100);
}

static void assert_text(const struct protobuf *text, const struct protobuf *wanted)
{
	assert_int_equal(text->len, wanted->len);
	if (text->len)
		assert_memory_equal(text->at, wanted->at, text->len);
}

/* TimeSeries of 1.0: labels, and a sample of value and time. */
static void assert_series(struct protobuf series, const struct write_reader *reader,
			  const struct write_reading *wanted)
{
	struct protobuf_field field, part;
	size_t count = 0;

	while (protobuf_next(&series, &field) > 0 && field.number == 1) {
		const uint32_t *refs = wanted->refs + 2 * count;

		assert_true(count++ < wanted->label_count);
		assert_int_equal(protobuf_next(&field.bytes, &part), 1);
		assert_text(&part.bytes, &reader->symbols[refs[0]]);
		assert_int_equal(protobuf_next(&field.bytes, &part), 1);
		assert_text(&part.bytes, &reader->symbols[refs[1]]);
		assert_int_equal(protobuf_next(&field.bytes, &part), 0);
	}
	assert_int_equal(count, wanted->label_count);
	assert_int_equal(field.number, 2);
	assert_int_equal(protobuf_next(&field.bytes, &part), 1);
	assert_int_equal(part.value, wanted->value_bits);
	assert_int_equal(protobuf_next(&field.bytes, &part), 1);
	assert_int_equal(part.value, wanted->time_ms);
	assert_int_equal(protobuf_next(&series, &field), 0);
}

/* Blocks of @max_series each have the message's series. Returns the number of blocks. */
static size_t assert_blocks(struct write_reader *reader, const struct strbuf *message,
			    uint32_t max_series)
{
	CLEANUP(write_reader_release) struct write_reader wanted = { 0 };
	CLEANUP(strbuf_release) struct strbuf content = STRBUF_INIT;
	struct write_reading series;
	size_t blocks = 0;

	assert_int_equal(write_reader_open(reader, message->data, message->len), 0);
	assert_int_equal(write_reader_open(&wanted, message->data, message->len), 0);
	while (next_1(reader, max_series, WRITE_MESSAGE_MAX, &content) > 0) {
		struct protobuf rest = { (const unsigned char *)content.data, content.len };
		struct protobuf_field field;

		while (protobuf_next(&rest, &field) > 0) {
			if (field.number != 1)
				continue;
			assert_int_equal(write_reader_next(&wanted, &series), 1);
			assert_series(field.bytes, &wanted, &series);
		}
		blocks++;
	}
	assert_int_equal(write_reader_next(&wanted, &series), 0);
	return blocks;
}

/* Each block refers to itself only, wherever it begins, and whatever was read before. */
static void blocks_have_the_series_of_the_message(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	struct taking taking = { 0 };
	struct label_cache *labels;
	struct write_sink sink;
	struct fixture fixture;

	fixture_node(&fixture);
	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	walk(&sink, labels, &fixture.snapshot, TIME_MS);
	assert_int_equal(assert_blocks(&reader, &taking.messages[0], WRITE_SERIES_MAX), 1);
	assert_true(assert_blocks(&reader, &taking.messages[0], 7) > 14);
	assert_true(assert_blocks(&reader, &taking.messages[0], 1) > 100);
	write_sink_release(&sink);
	label_cache_free(labels);
	taking_release(&taking);
	fixture_release(&fixture);
}

/* A text may be the value of any number of labels, and be in any number of blocks. */
static void a_value_may_have_many_names(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;
	struct write_series series = { .time_ms = TIME_MS };
	struct write_batch batch;
	char name[8];

	write_batch_init(&batch);
	for (int i = 0; i < 150; i++) {
		struct write_labels labels = { .count = 0 };
		char field[WRITE_LABELS_FIELD_MAX];

		write_labels_add(&batch, &labels, "__name__", "n", 1);
		for (int j = 0; j < 40; j++) {
			(void)snprintf(name, sizeof(name), "l%d", (i + j) % 100);
			write_labels_add(&batch, &labels, name, "true", 4);
		}
		series.labels = field;
		series.labels_len = write_labels_encode(labels.labels, labels.count, field);
		series.time_ms += i % 7 == 0;
		write_batch_add(&batch, &series);
	}
	assert_int_equal(write_batch_finish(&batch, &message), 0);
	assert_int_equal(assert_blocks(&reader, &message, WRITE_SERIES_MAX), 1);
	assert_int_equal(assert_blocks(&reader, &message, 50), 3);
	write_batch_release(&batch);
}

static void walk_with_fresh_sink(const struct snapshot *snapshot, int64_t time_ms,
				 struct strbuf *out)
{
	struct taking taking = { 0 };
	struct label_cache *labels;
	struct write_sink sink;

	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	walk(&sink, labels, snapshot, time_ms);
	as_1(&taking.messages[0], out);
	write_sink_release(&sink);
	label_cache_free(labels);
	taking_release(&taking);
}

/* Rows stay, end, go and come back; their labels are kept from the walks before. */
static void a_later_walk_is_like_a_first_one(void **state)
{
	CLEANUP(strbuf_release) struct strbuf kept = STRBUF_INIT, fresh = STRBUF_INIT;
	struct taking taking = { 0 };
	struct label_cache *labels;
	struct write_sink sink;
	struct fixture fixture;

	fixture_node(&fixture);
	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	for (int round = 0; round < 5; round++) {
		struct snapshot_table *table = &fixture.snapshot.level[LEVEL_PROCESS];

		if (round == 2)
			table->count--;
		if (round == 3)
			table->count++;
		((struct snapshot_row *)(uintptr_t)table->rows)[0].ended = round == 4;
		walk(&sink, labels, &fixture.snapshot, TIME_MS + round);
		walk_with_fresh_sink(&fixture.snapshot, TIME_MS + round, &fresh);
		assert_int_equal(taking.count, 1);
		as_1(&taking.messages[0], &kept);
		assert_int_equal(kept.len, fresh.len);
		assert_memory_equal(kept.data, fresh.data, fresh.len);
		taking_release(&taking);
	}
	write_sink_release(&sink);
	label_cache_free(labels);
	fixture_release(&fixture);
}

/* Symbols that nothing refers to do not gather. */
static void texts_of_rows_that_are_gone_are_removed(void **state)
{
	struct write_batch *batch;
	struct taking taking = { 0 };
	struct label_cache *labels;
	struct write_sink sink;
	struct fixture fixture;
	uint32_t first;

	fixture_node(&fixture);
	assert_int_equal(label_cache_new(write_form, NAMES_OF_PAGES, &labels), 0);
	write_sink_init(&sink, &all);
	sink.full = take;
	sink.userdata = &taking;
	batch = &sink.parts[0].batch;
	walk(&sink, labels, &fixture.snapshot, TIME_MS);
	first = batch->symbol_count;
	for (int i = 0; i < 1000; i++) {
		char text[16];
		int len = snprintf(text, sizeof(text), "gone %d", i);

		(void)write_batch_symbol(batch, text, (size_t)len);
	}
	taking_release(&taking);
	walk(&sink, labels, &fixture.snapshot, TIME_MS + 1);
	assert_int_equal(batch->symbol_count, first);
	write_sink_release(&sink);
	label_cache_free(labels);
	taking_release(&taking);
	fixture_release(&fixture);
}

/* A text that is the value of two labels has two fields. */
static void equal_values_keep_their_names(void **state)
{
	static const char wanted[] = "\x0a\x06\x0a\x01"
				     "a\x12\x01"
				     "x\x0a\x06\x0a\x01"
				     "b\x12\x01x";
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT, one = STRBUF_INIT;
	struct write_labels labels = { .count = 0 };
	char field[WRITE_LABELS_FIELD_MAX];
	struct write_series series = { .labels = field, .time_ms = 300 };
	struct write_batch batch;

	write_batch_init(&batch);
	write_labels_add(&batch, &labels, "__name__", "n", 1);
	write_labels_add(&batch, &labels, "a", "x", 1);
	write_labels_add(&batch, &labels, "b", "x", 1);
	series.labels_len = write_labels_encode(labels.labels, labels.count, field);
	write_batch_add(&batch, &series);
	assert_int_equal(write_batch_finish(&batch, &message), 0);
	assert_int_equal(write_reader_open(&reader, message.data, message.len), 0);
	assert_int_equal(next_1(&reader, 10, 1000, &one), 1);
	assert_true(one.data && memmem(one.data, one.len, wanted, sizeof(wanted) - 1));
	write_batch_release(&batch);
}

/* prometheus.WriteRequest, by hand: a="b", a value and a time; with the family's metadata. */
static void version_1_has_labels_in_full(void **state)
{
	static const char wanted[] = "\x1a\xa1\x80\x80\x80\x00" /* metadata, 33 bytes */
				     "\x08\x01\x12\x01"
				     "n\x22\x02"
				     "H.\x2a\x00";
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(strbuf_release)
	struct strbuf message = STRBUF_INIT, metadata = STRBUF_INIT, one = STRBUF_INIT;
	struct write_labels labels = { .count = 0 };
	char field[WRITE_LABELS_FIELD_MAX];
	struct write_batch batch;
	struct write_series series = { .value_bits = 1, .time_ms = 300 };

	write_batch_init(&batch);
	write_labels_add(&batch, &labels, "a", "b", 1);
	write_labels_add(&batch, &labels, "__name__", "n", 1);
	write_labels_add(&batch, &labels, "a", "c", 1); /* there is one */
	write_labels_add(&batch, &labels, "e", "", 0);  /* it would be empty */
	assert_int_equal(labels.count, 2);
	write_metadata(&metadata, WRITE_TYPE_COUNTER, write_batch_symbol(&batch, "H.", 2), 0);
	series.labels = field;
	series.labels_len = write_labels_encode(labels.labels, labels.count, field);
	series.metadata = metadata.data;
	series.metadata_len = metadata.len;
	write_batch_add(&batch, &series);
	assert_int_equal(write_batch_finish(&batch, &message), 0);
	assert_int_equal(write_reader_open(&reader, message.data, message.len), 0);
	assert_int_equal(next_1(&reader, 10, 1000, &one), 1);
	assert_int_equal(next_1(&reader, 10, 10000, &one), 0);
	assert_true(one.len > sizeof(wanted));
	assert_memory_equal(one.data + 6, wanted + 6, sizeof(wanted) - 7);
	assert_memory_equal(one.data + one.len - 12, "\x09\x01\0\0\0\0\0\0\0\x10\xac\x02", 12);
	write_batch_release(&batch);
}

/* Labels of a name that is as long as one can be: no more are kept than memory is meant for. */
static void a_long_name_may_have_many_values(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(strbuf_release)
	struct strbuf message = STRBUF_INIT, long_name = STRBUF_INIT;
	char field[WRITE_LABELS_FIELD_MAX], value[8];
	struct write_series series = { .labels = field, .time_ms = 300 };
	struct write_batch batch;

	while (long_name.len < WRITE_SYMBOL_MAX)
		strbuf_add_char(&long_name, 'x');
	write_batch_init(&batch);
	for (int i = 0; i < 600; i++) {
		struct write_labels labels = { .count = 0 };

		(void)snprintf(value, sizeof(value), "%d", i);
		write_labels_add(&batch, &labels, "__name__", "n", 1);
		write_labels_add(&batch, &labels, long_name.data, value, strlen(value));
		series.labels_len = write_labels_encode(labels.labels, labels.count, field);
		write_batch_add(&batch, &series);
	}
	assert_int_equal(write_batch_finish(&batch, &message), 0);
	write_batch_release(&batch);
	assert_true(assert_blocks(&reader, &message, 500) > 1);
	assert_true(reader.texts.len < 5 * WRITE_MESSAGE_MAX);
}

static void a_symbol_is_at_most_64_kib_long(void **state)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(strbuf_release)
	struct strbuf message = STRBUF_INIT, text = STRBUF_INIT;
	struct write_batch batch;

	while (text.len <= WRITE_SYMBOL_MAX)
		strbuf_add_char(&text, 'x');
	write_batch_init(&batch);
	assert_int_not_equal(write_batch_symbol(&batch, text.data, text.len - 1), 0);
	assert_int_equal(batch.error, 0);
	assert_int_equal(write_batch_symbol(&batch, text.data, text.len), 0);
	assert_int_equal(batch.error, -ENOSPC);
	write_batch_release(&batch);
	protobuf_add_bytes(&message, PROTOBUF_TAG(WRITE2_SYMBOL, PROTOBUF_BYTES), text.data,
			   text.len);
	assert_int_equal(write_reader_open(&reader, message.data, message.len), -EPROTO);
}

static void damaged_messages_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{ "", 0 },                                          /* no symbol */
		{ "\x22\x05x", 3 },                                 /* cut */
		{ "\x22\x00\x2a\x04\x0a\x02\x01\x00", 8 },          /* no such symbol */
		{ "\x22\x00\x2a\x03\x0a\x01\x00", 7 },              /* a name without a value */
		{ "\x22\x00\x2a\x00", 4 },                          /* no labels */
		{ "\x22\x00\x2a\x04\x0a\x02\xff\xff", 8 },          /* a reference that is cut */
		{ "\x22\x00\x2a\x06\x0a\x02\x00\x00\x2a\x00", 10 }, /* no name */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(write_reader_release) struct write_reader reader = { 0 };
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		int r = write_reader_open(&reader, cases[i].bytes, cases[i].len);

		if (r == 0)
			r = next_1(&reader, 10, 1000, &out);
		assert_int_equal(r, -EPROTO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_series_is_whole),
		cmocka_unit_test(globs_choose_families),
		cmocka_unit_test(a_later_walk_is_like_a_first_one),
		cmocka_unit_test(texts_of_rows_that_are_gone_are_removed),
		cmocka_unit_test(equal_values_keep_their_names),
		cmocka_unit_test(blocks_have_the_series_of_the_message),
		cmocka_unit_test(a_value_may_have_many_names),
		cmocka_unit_test(a_long_name_may_have_many_values),
		cmocka_unit_test(a_symbol_is_at_most_64_kib_long),
		cmocka_unit_test(a_series_that_is_gone_gets_one_marker),
		cmocka_unit_test(version_1_has_labels_in_full),
		cmocka_unit_test(damaged_messages_are_refused),
	};

	return unit_run(tests);
}
