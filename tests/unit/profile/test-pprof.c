// SPDX-License-Identifier: Apache-2.0
#include "profile/pprof.h"

#include <string.h>

#include "tests/unit/unit.h"

static const struct profile_about about = { "make", "measured", "", 2.5, 1700000000000000000, 99 };

/* A field of a message: a number, or bytes. */
struct field {
	uint32_t number;
	uint64_t value;
	const unsigned char *bytes;
};

static uint64_t take_varint(const unsigned char **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << (shift < 64 ? shift : 63);
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

/* The next field of a message that ends at @end; its form is a varint or bytes. */
static bool take_field(const unsigned char **at, const unsigned char *end, struct field *ret)
{
	uint64_t tag;

	if (*at >= end)
		return false;
	tag = take_varint(at);
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	*ret = (struct field){ .number = (uint32_t)(tag >> 3), .value = take_varint(at) };
	if ((tag & 7) == 2) {
		ret->bytes = *at;
		*at += ret->value;
	}
	assert_true(*at <= end);
	return true;
}

/* Adds the three values of a sample. */
static void add_values(const struct field *sample, uint64_t sums[3])
{
	const unsigned char *at = sample->bytes, *end = at + sample->value;
	struct field field;

	while (take_field(&at, end, &field)) {
		const unsigned char *value = field.bytes;

		for (int i = 0; field.number == 2 && i < 3; i++)
			sums[i] += take_varint(&value);
	}
}

static void set(struct profile *profile, uint32_t node, uint64_t energy_uj, uint64_t cpu_ns,
		uint64_t samples)
{
	profile->nodes[node].energy_uj[RUN_NOW] = energy_uj;
	profile->nodes[node].energy_uj[RUN_BEFORE] = 1000;
	profile->nodes[node].cpu_ns = cpu_ns;
	profile->nodes[node].samples = samples;
}

static void fill(struct profile *profile)
{
	uint32_t frame, node;

	assert_int_equal(profile_init(profile, 100), 0);
	profile->is_compared = true;
	node = profile_child(profile, PROFILE_ROOT, profile_frame(profile, "make", FRAME_OWNER));
	set(profile, node, 0, 0, 0);
	frame = profile_frame(profile, "main", FRAME_USER);
	profile_place(profile, frame, profile_module(profile, "/bin/make", "00ff"));
	node = profile_child(profile, node, frame);
	set(profile, node, UINT64_C(1) << 62, 7, 1);
	node = profile_child(profile, node, profile_frame(profile, "read", FRAME_KERNEL));
	set(profile, node, 5, 300, 2);
	set(profile, PROFILE_ROOT, 1, 0, 0);
}

static void the_message_has_the_sums_of_the_profile(void **state)
{
	struct strbuf out = STRBUF_INIT, again = STRBUF_INIT;
	uint64_t sums[3] = { 0 };
	size_t counts[16] = { 0 };
	struct profile profile;
	const unsigned char *at;
	struct field field;

	fill(&profile);
	pprof_write(&profile, &about, &out);
	pprof_write(&profile, &about, &again);
	assert_int_equal(strbuf_error(&out), 0);
	assert_int_equal(out.len, again.len);
	assert_memory_equal(out.data, again.data, out.len);
	at = (const unsigned char *)out.data;
	while (take_field(&at, (const unsigned char *)out.data + out.len, &field)) {
		assert_true(field.number < 16);
		if (field.number == 2)
			add_values(&field, sums);
		if (field.number == 6)
			assert_true(counts[6] || field.value == 0); /* the first is empty */
		if (field.number == 9)
			assert_true(field.value == 1700000000000000000);
		if (field.number == 10)
			assert_true(field.value == 2500000000);
		counts[field.number]++;
	}
	assert_true(sums[0] == 3 && sums[1] == 307);
	assert_true(sums[2] == profile_sum_uj(&profile, RUN_NOW));
	assert_true(sums[2] == (UINT64_C(1) << 62) + 6);
	assert_int_equal(counts[1], 3); /* kinds of values */
	assert_int_equal(counts[2], 3); /* samples: of the root, of main, of read */
	assert_int_equal(counts[3], 2); /* mappings, with the kernel */
	assert_int_equal(counts[4], profile.frame_count);
	assert_int_equal(counts[5], profile.frame_count);
	strbuf_release(&out);
	strbuf_release(&again);
	profile_release(&profile);
}

/* The functions of each line of a location, in its order. */
static size_t read_lines(const struct field *location, uint64_t *ret_id, uint64_t ret[4])
{
	const unsigned char *at = location->bytes, *end = at + location->value, *line_at;
	struct field field, line;
	size_t count = 0;

	while (take_field(&at, end, &field)) {
		if (field.number == 1)
			*ret_id = field.value;
		if (field.number != 4)
			continue;
		line_at = field.bytes;
		assert_true(count < 4 && take_field(&line_at, field.bytes + field.value, &line));
		ret[count++] = line.value;
	}
	return count;
}

/* Inlined functions are lines of the location of the function around them, the innermost first. */
static void inlined_functions_share_a_location(void **state)
{
	uint64_t id = 0, lines[4], found = 0, stack[2] = { 0 };
	struct strbuf out = STRBUF_INIT;
	const unsigned char *at, *value;
	uint32_t outer, hot, hottest, node;
	struct profile profile;
	struct field field, of_sample;

	assert_int_equal(profile_init(&profile, 100), 0);
	outer = profile_frame(&profile, "outer", FRAME_USER);
	hot = profile_frame(&profile, "hot", FRAME_INLINED);
	hottest = profile_frame(&profile, "hottest", FRAME_INLINED);
	node = profile_child(&profile, PROFILE_ROOT, profile_frame(&profile, "make", FRAME_OWNER));
	node = profile_child(&profile, profile_child(&profile, node, outer), hot);
	node = profile_child(&profile, node, hottest);
	set(&profile, node, 5, 300, 2);
	pprof_write(&profile, &about, &out);
	assert_int_equal(strbuf_error(&out), 0);
	at = (const unsigned char *)out.data;
	while (take_field(&at, (const unsigned char *)out.data + out.len, &field)) {
		if (field.number == 4 && read_lines(&field, &id, lines) == 3) {
			assert_true(lines[0] == hottest + 1 && lines[1] == hot + 1);
			assert_true(lines[2] == outer + 1);
			found = id;
		}
		if (field.number != 2)
			continue;
		value = field.bytes;
		assert_true(take_field(&value, field.bytes + field.value, &of_sample));
		assert_int_equal(of_sample.value, 2); /* two locations of a byte each */
		stack[0] = of_sample.bytes[0];
		stack[1] = of_sample.bytes[1];
	}
	assert_true(found && stack[0] == found && stack[1] == 5); /* make, the fifth frame */
	strbuf_release(&out);
	profile_release(&profile);
}

/* A function's name in two files is in none of them; one file may be stated again. */
static void a_name_in_two_files_has_no_file(void **state)
{
	struct profile profile;
	uint32_t frame, first, second;

	assert_int_equal(profile_init(&profile, 100), 0);
	frame = profile_frame(&profile, "main", FRAME_USER);
	first = profile_module(&profile, "/bin/one", NULL);
	second = profile_module(&profile, "/bin/two", "01");
	profile_place(&profile, frame, first);
	profile_place(&profile, frame, first);
	assert_int_equal(profile.frames[frame].module, first);
	profile_place(&profile, frame, second);
	assert_int_equal(profile.frames[frame].module, 0);
	profile_place(&profile, frame, second);
	assert_int_equal(profile.frames[frame].module, 0);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_has_the_sums_of_the_profile),
		cmocka_unit_test(inlined_functions_share_a_location),
		cmocka_unit_test(a_name_in_two_files_has_no_file),
	};

	return unit_run(tests);
}
