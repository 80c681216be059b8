// SPDX-License-Identifier: Apache-2.0
/* Property: what config_show() prints loads back to the same values, for any values. */
#include "base/num.h"
#include "config/config.h"
#include "tests/unit/unit.h"

#define CASES 400

static uint64_t random_u64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static uint64_t between(uint64_t *seed, uint64_t low, uint64_t high)
{
	return low + random_u64(seed) % (high - low + 1);
}

/* Pieces that YAML, shells and terminals take for something. */
static void random_text(uint64_t *seed, char *buf, size_t size)
{
	static const char *const pieces[] = { "a",   "Z", " ", "\"", "\\",      "'", "#",    ": ",
					      "- ",  "[", "{", "%",  "&",       "*", "!",    "|",
					      ">",   "@", "é", "€",  "😀",       "~", "null", "off",
					      "0x1", "/", "=", ",",  "\xc2\xa0" };
	size_t count = between(seed, 1, 12), n = 0;

	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s",
				      pieces[random_u64(seed) % ARRAY_SIZE(pieces)]);
}

/* An item of a list that has a check: one of the forms that such lists have. */
static void random_item(const struct option *option, uint64_t *seed, char *buf, size_t size)
{
	struct diag diag = { 0 };

	if (!option->check) {
		random_text(seed, buf, size);
		return;
	}
	(void)snprintf(buf, size, "10.0.0.%u:%u", (unsigned)(random_u64(seed) % 255),
		       (unsigned)(random_u64(seed) % 65536));
	if (option->check(buf, &diag) < 0) /* no address: a name */
		(void)snprintf(buf, size, "node-%u.example.org",
			       (unsigned)(random_u64(seed) % 1000));
	if (option->check(buf, &diag) < 0) /* neither: a rule of hwmon */
		(void)snprintf(buf, size, "ina226@1-00%u/power1=platform",
			       (unsigned)(random_u64(seed) % 100));
	if (option->check(buf, &diag) < 0) /* the address of a virtual machine */
		(void)snprintf(buf, size, "%u=web", 3 + (unsigned)(random_u64(seed) % 99));
	if (option->check(buf, &diag) < 0) /* a label */
		(void)snprintf(buf, size, "label%u=web", (unsigned)(random_u64(seed) % 99));
	if (option->check(buf, &diag) < 0) /* a receiver */
		(void)snprintf(buf, size, "https://node-%u.example/",
			       (unsigned)(random_u64(seed) % 99));
	if (option->check(buf, &diag) < 0) /* a unit of work */
		(void)snprintf(buf, size, "unit%llu metric=m match=a!=\"# label=a=b port=9",
			       (unsigned long long)random_u64(seed));
	if (option->check(buf, &diag) < 0) /* a level */
		(void)snprintf(buf, size, "%s", random_u64(seed) % 2 ? "pod" : "process");
}

static void random_value(const struct option *option, uint64_t *seed, char *buf, size_t size)
{
	char digits[FORMAT_DOUBLE_MAX + 1];
	uint64_t number = between(seed, option->min, option->max);
	double real = (double)number * ((double)(random_u64(seed) % 1000000) / 1e6);
	size_t choices = 0, len;
	unsigned kib;

	real = real < (double)option->min ? (double)option->min : real;
	len = format_double(digits, real);
	digits[len] = '\0';
	switch (option->type) {
	case OPTION_STRING:
		if (option->check) /* which any text may not pass */
			(void)snprintf(buf, size, "%s", option->default_text);
		else
			random_text(seed, buf, size);
		break;
	case OPTION_STRINGS:
		random_item(option, seed, buf, size);
		break;
	case OPTION_BOOL:
		(void)snprintf(buf, size, "%s", random_u64(seed) % 2 ? "true" : "false");
		break;
	case OPTION_ENUM:
		while (option->choices[choices].name)
			choices++;
		(void)snprintf(buf, size, "%s", option->choices[random_u64(seed) % choices].name);
		break;
	case OPTION_DURATION:
		(void)snprintf(buf, size, "%lluns", (unsigned long long)number);
		break;
	case OPTION_U32:
		(void)snprintf(buf, size, "%llu", (unsigned long long)number);
		break;
	case OPTION_SIZE:
		do
			kib = 64U << (random_u64(seed) % 16);
		while (kib < option->min || kib > option->max);
		(void)snprintf(buf, size, "%uKiB", kib);
		break;
	case OPTION_MICRO:
		(void)snprintf(buf, size, "%s", digits);
		break;
	case OPTION_AMOUNTS:
		(void)snprintf(buf, size, "zone-%llu=%s", (unsigned long long)random_u64(seed),
			       digits);
		break;
	}
}

static void randomize(struct config *config, uint64_t *seed)
{
	size_t count = option_count(&config_options);

	for (size_t i = 0; i < count; i++) {
		size_t items = option_is_list(option_at(&config_options, i))
				       ? between(seed, 1, option_at(&config_options, i)->list_max)
				       : 1;

		if (option_at(&config_options, i)->not_in_file || random_u64(seed) % 4 == 0)
			continue;
		for (size_t item = 0; item < items; item++) {
			enum option_origin origin = ORIGIN_FLAG;
			struct diag diag = { 0 };
			char text[256];

			random_value(option_at(&config_options, i), seed, text, sizeof(text));
			if (option_take(&config_options, i, &config->options, origin, text, &diag) <
			    0)
				fail_msg("%s=%s: %s", option_at(&config_options, i)->name, text,
					 diag.text);
		}
	}
}

static void show_loads_back(void **state)
{
	size_t count = option_count(&config_options);
	uint64_t seed = 0x6b65706c6572ULL;

	for (int round = 0; round < CASES; round++) {
		struct config before, after;
		struct strbuf text = STRBUF_INIT;
		struct diag diag = { 0 };

		assert_int_equal(config_load_text("x", "", 0, &before, &diag), 0);
		randomize(&before, &seed);
		if (before.idle.watts_count == 0)
			before.idle.mode = 0; /* fixed without watts is refused as a whole */
		if (before.monitor.interval_ns < 1000000000)
			before.allow_fast_updates = true; /* as is this, where others ask */
		free(before.web.key);                     /* and a certificate without a key */
		before.web.key = strdup(before.web.certificate);
		config_show(&before, &text);
		assert_int_equal(strbuf_error(&text), 0);
		if (config_load_text("x", text.data, text.len, &after, &diag) < 0)
			fail_msg("round %d: %s\n%s", round, diag.text, text.data);
		for (size_t i = 0; i < count; i++) {
			if (!option_is_same(&config_options, i, &before.options, &after.options))
				fail_msg("round %d: %s\n%s", round,
					 option_at(&config_options, i)->name, text.data);
		}
		strbuf_release(&text);
		config_release(&before);
		config_release(&after);
	}
}

static int set(struct config *config, const char *name, const char *text)
{
	struct diag diag = { "" };
	int r = option_take(&config_options, option_find(&config_options, name), &config->options,
			    ORIGIN_FLAG, text, &diag);

	assert_true(r == 0 || diag.text[0]);
	return r;
}

static void numbers_keep_to_their_range(void **state)
{
	struct config config;

	assert_int_equal(config_load_text("x", "", 0, &config, NULL), 0);
	assert_int_equal(set(&config, "web.max-connections", "10000"), 0);
	assert_int_equal(set(&config, "web.max-connections", "10001"), -EINVAL);
	assert_int_equal(set(&config, "web.max-connections", "3"), -EINVAL);
	assert_int_equal(set(&config, "web.max-connections", "300\n"), -EINVAL);
	assert_int_equal(set(&config, "bpf.end-buffer", "64\n"), -EINVAL);
	assert_int_equal(config.web.max_connections, 10000);
	assert_int_equal(set(&config, "monitor.interval", "100ms"), 0);
	assert_int_equal(set(&config, "monitor.interval", "99ms"), -EINVAL);
	assert_int_equal(set(&config, "monitor.interval", "100000h"), -EINVAL);
	assert_int_equal(set(&config, "meter.max-watts", "0.0000005"), 0);
	assert_int_equal(config.meter.max_power_uw, 1); /* to the nearest */
	assert_int_equal(set(&config, "meter.max-watts", "1000000.5"), -EINVAL);
	assert_int_equal(set(&config, "bpf.end-buffer", "64MiB"), 0);
	assert_int_equal(config.activity.end_buffer_bytes, 64 * 1024 * 1024);
	config_release(&config);
}

/* The table itself: names, sections, ranges and defaults make sense. */
static void table_is_sound(void **state)
{
	size_t count = option_count(&config_options);

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(&config_options, i);
		size_t section = strcspn(option->name, ".") + 1;
		char variable[80];

		assert_true(strlen(option->name) < 48);
		assert_int_equal(option_find(&config_options, option->name), i);
		assert_int_equal(option_find_key(&config_options, option->name), i);
		assert_true(option->min <= option->max);
		assert_non_null(option->help);
		assert_true(option->type == OPTION_BOOL || option->metavar);
		assert_true(option->help[strlen(option->help) - 1] == '.');
		option_environment_name(&config_options, option, variable, sizeof(variable));
		assert_true(strlen(variable) == strlen(option->name) + 7);
		for (size_t j = 0; j + 1 < i; j++) /* rows of a section stand together */
			assert_false(strncmp(option_at(&config_options, j)->name, option->name,
					     section) == 0 &&
				     strncmp(option_at(&config_options, i - 1)->name, option->name,
					     section) != 0);
	}
	assert_true(option_is_section(&config_options, "web"));
	assert_true(option_is_section(&config_options, "metrics.process"));
	assert_false(option_is_section(&config_options, "metrics.proc"));
	assert_false(option_is_section(&config_options, ""));
	assert_false(option_is_section(&config_options, "table"));
}

static void printable(void **state)
{
	char buf[32];

	assert_string_equal(option_printable(buf, sizeof(buf), "plain é"), "plain é");
	assert_string_equal(option_printable(buf, sizeof(buf), "a\x1b[31m\xff\n"), "a?[31m??");
	assert_string_equal(option_printable(buf, sizeof(buf), "\xc2\x9b\xe2\x80\xa8"), "??");
	assert_string_equal(option_printable(buf, 12, "0123456789abcdef"), "01234…");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_to_their_range),
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(show_loads_back),
		cmocka_unit_test(printable),
	};

	return unit_run(tests);
}
