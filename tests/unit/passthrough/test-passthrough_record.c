// SPDX-License-Identifier: Apache-2.0
/* Records as bytes: the vectors, each byte broken, and streams that are cut anywhere. */
#include "passthrough/passthrough_record.h"

#include "base/file.h"
#include "passthrough/crc32c.h"
#include "tests/rig/property.h"
#include "tests/unit/passthrough/example_records.h"
#include "tests/unit/unit.h"

static const char *vectors; /* a folder of NAME.hex and NAME.txt */

/* The bytes of a vector; returns how many. */
static size_t read_vector(const char *name, uint8_t ret[static PASSTHROUGH_RECORD_MAX])
{
	CLEANUP_FREE char *text = NULL;
	char path[4096];
	size_t len, count = 0;

	(void)snprintf(path, sizeof(path), "%s/%s.hex", vectors, name);
	assert_int_equal(read_file_alloc(path, 4096, &text, &len), 0);
	for (size_t i = 0; i + 1 < len; i++) {
		char pair[3] = { text[i], text[i + 1], '\0' };

		if (text[i] == '\n')
			continue;
		assert_true(count < PASSTHROUGH_RECORD_MAX);
		ret[count++] = (uint8_t)strtoul(pair, NULL, 16);
		i++;
	}
	return count;
}

static void test_vectors(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		uint8_t expected[PASSTHROUGH_RECORD_MAX], bytes[PASSTHROUGH_RECORD_MAX];
		struct passthrough_record record;
		size_t len = passthrough_record_write(&examples[i].record, bytes);

		assert_int_equal(len, read_vector(examples[i].name, expected));
		assert_memory_equal(bytes, expected, len);
		assert_int_equal(passthrough_record_read(expected, len, &record), PASSTHROUGH_OK);
		assert_true(records_are_equal(&record, &examples[i].record));
	}
}

/* Writes the checksum again. */
static void sign(uint8_t *bytes, size_t len)
{
	uint32_t sum = crc32c(bytes, len - 4);

	for (size_t i = 0; i < 4; i++)
		bytes[len - 4 + i] = (uint8_t)(sum >> 8 * i);
}

static enum passthrough_refusal read_changed(size_t at, uint8_t value)
{
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len = passthrough_record_write(&examples[0].record, bytes);
	struct passthrough_record unused;

	bytes[at] = value;
	sign(bytes, len);
	return passthrough_record_read(bytes, len, &unused);
}

static void test_refusals(void **state)
{
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len = passthrough_record_write(&examples[0].record, bytes);
	struct passthrough_record unused;

	for (size_t i = 0; i < len; i++) {
		bytes[i] ^= 1;
		assert_int_not_equal(passthrough_record_read(bytes, len, &unused), PASSTHROUGH_OK);
		bytes[i] ^= 1;
		assert_int_not_equal(passthrough_record_read(bytes, i, &unused), PASSTHROUGH_OK);
	}
	assert_int_equal(read_changed(4, 1), PASSTHROUGH_OK);
	assert_int_equal(read_changed(4, 2), PASSTHROUGH_BAD_VERSION);
	assert_int_equal(read_changed(5, 2), PASSTHROUGH_BAD_LENGTH);
	assert_int_equal(read_changed(5, 11), PASSTHROUGH_BAD_LENGTH);
	assert_int_equal(read_changed(16, 0), PASSTHROUGH_BAD_CONTENT); /* sequence 0 */
	assert_int_equal(read_changed(72 + 16, 1), PASSTHROUGH_OK);     /* quality */
	assert_int_equal(read_changed(72 + 16, 2), PASSTHROUGH_BAD_CONTENT);
	assert_int_equal(read_changed(72, 0), PASSTHROUGH_BAD_CONTENT); /* name "" */
	assert_int_equal(read_changed(72 + 15, 'x'), PASSTHROUGH_BAD_CONTENT);
	assert_int_equal(read_changed(72 + 32, 1), PASSTHROUGH_BAD_CONTENT); /* idle, no flag */
	assert_int_equal(read_changed(68, 1), PASSTHROUGH_OK);
}

static void test_faults(void **state)
{
	struct passthrough_record record = examples[2].record;

	assert_null(passthrough_record_fault(&record));
	record.zones[9].kind = ZONE_PLATFORM; /* estimated twice */
	assert_non_null(passthrough_record_fault(&record));
	record = examples[2].record;
	record.zones[6].idle_uj = 616; /* the sum is 2^64 */
	assert_non_null(passthrough_record_fault(&record));
	record = examples[2].record;
	record.epoch = 0;
	assert_non_null(passthrough_record_fault(&record));
	record = examples[2].record;
	record.zone_count = PASSTHROUGH_ZONES_MAX + 1;
	assert_non_null(passthrough_record_fault(&record));
}

/* Additions of a later version: a zone of another kind, and bytes before the checksum. */
static void test_additions_are_ignored(void **state)
{
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len = passthrough_record_write(&examples[0].record, bytes);
	struct passthrough_record record;

	bytes[72] = 'q';
	len += 12;
	memset(bytes + len - 16, 7, 12);
	bytes[6] = (uint8_t)len;
	sign(bytes, len);
	assert_int_equal(passthrough_record_read(bytes, len, &record), PASSTHROUGH_OK);
	assert_int_equal(record.zone_count, 0);
	assert_int_equal(record.unknown_zones, 1);
	assert_int_equal(record.sequence, 1);
}

static void test_a_torn_record_does_not_hide_the_next(void **state)
{
	struct passthrough_stream stream = { .len = 0 };
	struct passthrough_record record;
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len = passthrough_record_write(&examples[0].record, bytes);

	assert_int_equal(passthrough_stream_add(&stream, "KEKEP", 5), 5);
	assert_int_equal(passthrough_stream_add(&stream, bytes, 100), 100);
	assert_false(passthrough_stream_next(&stream, &record));
	assert_int_equal(passthrough_stream_add(&stream, bytes, len), len);
	assert_true(passthrough_stream_next(&stream, &record));
	assert_true(records_are_equal(&record, &examples[0].record));
	assert_false(passthrough_stream_next(&stream, &record));
	assert_int_equal(stream.skipped, 105);
	assert_int_equal(stream.refused[PASSTHROUGH_BAD_SUM], 1);
	assert_int_equal(stream.len, 0);

	bytes[4] = 9;
	assert_int_equal(passthrough_stream_add(&stream, bytes, len), len);
	assert_false(passthrough_stream_next(&stream, &record));
	assert_int_equal(stream.refused[PASSTHROUGH_BAD_VERSION], 1);

	/* A whole record that contradicts itself is passed over as a whole. */
	bytes[4] = 1;
	bytes[16] = 0;
	sign(bytes, len);
	stream.skipped = 0;
	stream.len = 0;
	assert_int_equal(passthrough_stream_add(&stream, bytes, len), len);
	assert_false(passthrough_stream_next(&stream, &record));
	assert_int_equal(stream.refused[PASSTHROUGH_BAD_CONTENT], 1);
	assert_int_equal(stream.skipped, 0);
	assert_int_equal(stream.len, 0);
}

/* Whole records among garbage arrive, all of them and in order, however the stream is cut. */
static const char *stream_finds_all(struct property_source *source, void *userdata)
{
	struct passthrough_stream stream = { .len = 0 };
	uint8_t bytes[20 * PASSTHROUGH_RECORD_MAX];
	size_t len = 0, at = 0, written = 1 + draw_below(source, 8), found = 0;

	for (size_t i = 0; i < written; i++) {
		struct passthrough_record record =
			examples[draw_below(source, ARRAY_SIZE(examples))].record;

		for (size_t junk = draw_below(source, 64); junk > 0; junk--)
			bytes[len++] = (uint8_t) "KEP\xEB\x01X"[draw_below(source, 6)];
		record.sequence = i + 1;
		len += passthrough_record_write(&record, bytes + len);
	}
	/* So much that no length in the garbage reaches beyond the end. */
	memset(bytes + len, 0, PASSTHROUGH_RECORD_MAX);
	len += PASSTHROUGH_RECORD_MAX;
	while (at < len) {
		size_t left = len - at, piece = 1 + draw_below(source, left < 700 ? left : 700);
		size_t taken = passthrough_stream_add(&stream, bytes + at, piece);
		struct passthrough_record record;

		if (!taken)
			return "the stream takes no bytes";
		at += taken;
		while (passthrough_stream_next(&stream, &record)) {
			if (record.sequence != ++found)
				return "a record is missing";
		}
	}
	return found == written ? NULL : "records are missing at the end";
}

static void test_streams(void **state)
{
	assert_true(property_check("stream", stream_finds_all, NULL, 20000));
}

static void test_vm_hash(void **state)
{
	const char *uuid = "c7a5fdbd-edaf-9455-926a-d65c16db1809";

	assert_int_equal(passthrough_vm_hash(uuid), examples[0].record.vm_hash);
	assert_int_equal(passthrough_vm_hash("C7A5FDBD-EDAF-9455-926A-D65C16DB1809\n"),
			 examples[0].record.vm_hash);
	assert_int_equal(passthrough_vm_hash(""), 0);
	assert_int_equal(passthrough_vm_hash("c7a5fdbd-edaf-9455-926a-d65c16db180"), 0);
	assert_int_equal(passthrough_vm_hash("c7a5fdbd-edaf-9455-926a-d65c16db180g"), 0);
	assert_int_equal(passthrough_vm_hash("c7a5fdbd-edaf-9455-926aad65c16db1809"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_additions_are_ignored),
		cmocka_unit_test(test_a_torn_record_does_not_hide_the_next),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_vm_hash),
	};

	if (argc != 2)
		return 2;
	vectors = argv[1];
	return unit_run(tests);
}
