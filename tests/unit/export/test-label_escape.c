// SPDX-License-Identifier: Apache-2.0
#include "base/text/utf8.h"
#include "export/label_escape.h"
#include "exposition_parser.h"
#include "tests/unit/unit.h"

#define RANDOM_NAMES 1000000

static void assert_escaped(const char *raw, size_t len, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	strbuf_add_str(&out, "");
	label_clean(&out, raw, len, true);
	assert_string_equal(out.data, want);
}

static void escapes_and_cleans(void **state)
{
	assert_escaped("bash", 4, "bash");
	assert_escaped("", 0, "");
	assert_escaped("a\"b\\c\nd", 7, "a\\\"b\\\\c\\nd");
	assert_escaped("a\0b", 3,
		       "a\xef\xbf\xbd"
		       "b");
	assert_escaped("\x1b[31m\x7f\t", 7, "\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd");
	assert_escaped("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
	assert_escaped("\xc3(", 2, "\xef\xbf\xbd(");
	assert_escaped("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
	assert_escaped("\xe2\x80\xae}", 4, "\xe2\x80\xae}"); /* right-to-left is text */
}

static void cuts_between_characters(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	static char raw[64 << 10];

	memset(raw, 'x', sizeof(raw));
	label_clean(&out, raw, sizeof(raw), true);
	assert_int_equal(out.len, LABEL_VALUE_MAX);
	strbuf_reset(&out);
	memcpy(raw + LABEL_VALUE_MAX - 1, "\xc3\xbc", 2); /* does not fit any more */
	label_clean(&out, raw, sizeof(raw), true);
	assert_int_equal(out.len, LABEL_VALUE_MAX - 1);
	strbuf_reset(&out);
	memset(raw, '\\', sizeof(raw)); /* the limit is of the value, not of its escapes */
	label_clean(&out, raw, sizeof(raw), true);
	assert_int_equal(out.len, 2 * LABEL_VALUE_MAX);
}

static void keeps_names_apart_that_cleaning_makes_equal(void **state)
{
	CLEANUP(strbuf_release)
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT, c = STRBUF_INIT, plain = STRBUF_INIT;
	char longer[600];

	label_clean_unique(&a, "x\xff", 2, true);
	label_clean_unique(&b, "x\xfe", 2, true);
	assert_string_not_equal(a.data, b.data);
	/* Nor can one choose a name that reads like another's cleaned one. */
	label_clean_unique(&c, a.data, a.len, true);
	assert_string_not_equal(a.data, c.data);
	label_clean_unique(&plain, "nginx.service", 13, true);
	assert_string_equal(plain.data, "nginx.service");
	strbuf_reset(&a);
	strbuf_reset(&b);
	memset(longer, 'y', sizeof(longer));
	label_clean_unique(&a, longer, 500, true);
	label_clean_unique(&b, longer, 600, true);
	assert_string_not_equal(a.data, b.data);
	assert_true(a.len <= LABEL_VALUE_MAX && b.len <= LABEL_VALUE_MAX);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13; /* xorshift64 */
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly what matters: quotes, escapes, ends, broken characters. */
static size_t random_name(uint64_t *seed, char *name, size_t size)
{
	static const char nasty[] = "\"\\\n{},=# \x01\x7f\xff\xc3\xbc\xef\xbf\xbd\xf0\x9f\x98\x80"
				    "1aZ";
	size_t len = next_random(seed) % 8 ? next_random(seed) % 16 : next_random(seed) % size;

	for (size_t i = 0; i < len; i++) {
		uint64_t r = next_random(seed);

		name[i] = r & 0x100 ? (char)r : nasty[(r >> 16) % sizeof(nasty)];
	}
	return len;
}

struct expectation {
	const char *raw;
	size_t len;
	unsigned samples;
};

static void check_sample(void *userdata, const struct parsed_sample *sample)
{
	struct expectation *want = userdata;
	const char *value = parsed_label(sample, "l");
	size_t at = 0, len;

	want->samples++;
	assert_non_null(value);
	assert_int_equal(sample->label_count, 2);
	assert_string_equal(parsed_label(sample, "m"), "x");
	assert_string_equal(sample->value, "1");
	len = strlen(value);
	assert_true(len <= LABEL_VALUE_MAX);
	/* Each valid character of the raw name is there as it was, each other byte is U+FFFD. */
	for (size_t i = 0; i < want->len && at < len;) {
		size_t n = utf8_char_len(want->raw + i, want->len - i);
		unsigned char c = (unsigned char)want->raw[i];

		if (n == 0 || (c < 0x20 && c != '\n') || c == 0x7f) {
			assert_memory_equal(value + at, "\xef\xbf\xbd", 3);
			at += 3;
			i++;
			continue;
		}
		assert_memory_equal(value + at, want->raw + i, n);
		at += n;
		i += n;
	}
	assert_int_equal(at, len);
}

static void no_name_forges_a_sample(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *given = getenv("TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 0x9e3779b97f4a7c15ULL;
	char raw[600];

	print_message("seed 0x%llx\n", (unsigned long long)seed);
	for (unsigned i = 0; i < RANDOM_NAMES; i++) {
		uint64_t before = seed;
		struct expectation want = { raw, random_name(&seed, raw, sizeof(raw)), 0 };
		long samples;

		strbuf_reset(&text);
		strbuf_add_str(&text, "# HELP f x\n# TYPE f gauge\nf{l=\"");
		label_clean(&text, raw, want.len, true);
		strbuf_add_str(&text, "\",m=\"x\"} 1\n");
		samples = exposition_parse(text.data, text.len, false, check_sample, &want);
		if (samples != 1 || want.samples != 1)
			fail_msg("seed 0x%llx: %ld samples", (unsigned long long)before, samples);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_and_cleans),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(keeps_names_apart_that_cleaning_makes_equal),
		cmocka_unit_test(no_name_forges_a_sample),
	};

	return unit_run(tests);
}
