// SPDX-License-Identifier: Apache-2.0
/* A zone's learned values as lines: written lines are read, all others are refused. */
#include "attribution/learning/power_owners_line.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define OWNERS 6

struct lines {
	char text[POWER_OWNERS_LINES][POWER_OWNERS_LINE_MAX];
	const char *line[POWER_OWNERS_LINES];
};

static void run(struct power_owners *owners, int second, size_t count)
{
	const double unit[POWER_FIT_FEATURES] = { 1, 0.5, 0.75 };
	struct power_fit_work work[OWNERS], all = { 0 };
	uint64_t key[OWNERS];
	struct power_owners_sample sample = { .power_w = 20,
					      .factor_limit = POWER_OWNERS_MAX,
					      .idle_w = 20,
					      .span_ns = 1000000000,
					      .all = &all,
					      .unit = unit,
					      .key = key,
					      .work = work,
					      .count = count };
	double ratio;

	for (size_t i = 0; i < count; i++) {
		double busy = (second * 37 * (int)(i + 3)) % 101 / 100.0;

		key[i] = UINT64_MAX - i;
		work[i] = (struct power_fit_work){ .amount = { 2 * busy, busy, 2 * busy, 4 * busy,
							       2 * busy, 3 * busy, busy / 7 },
						   .time_s = busy };
		sample.power_w += busy * (8 + 2 * (double)i) + second * 13 % 7 / 50.0;
		power_fit_work_add(&all, &work[i]);
	}
	ratio = power_fit_work_awake_ratio(all.time_s, 1);
	power_fit_work_set_awake(&all, ratio);
	for (size_t i = 0; i < count; i++)
		power_fit_work_set_awake(&work[i], ratio);
	assert_true(power_owners_add(owners, &sample));
}

static void learn(struct power_owners *owners, int seconds)
{
	power_owners_init(owners);
	owners->signals = 31;
	for (int s = 0; s < seconds; s++)
		run(owners, s, OWNERS);
}

static void write_lines(const struct power_owners *owners, struct lines *ret)
{
	for (size_t i = 0; i < POWER_OWNERS_LINES; i++) {
		int len = power_owners_format(owners, i, ret->text[i], sizeof(ret->text[i]));

		assert_true(len >= 0);
		assert_true(len == 0 || (size_t)len == strlen(ret->text[i]));
		ret->line[i] = len ? ret->text[i] : NULL;
	}
}

static void test_round_trip(void **state)
{
	struct power_owners owners, back;
	static struct lines lines, again;

	learn(&owners, 300);
	write_lines(&owners, &lines);
	assert_memory_equal(lines.line[0], "fit=1 signals=31 is_better=1 ", 29);
	assert_int_equal(power_owners_parse(lines.line, &back), 0);
	write_lines(&back, &again);
	for (size_t i = 0; i < POWER_OWNERS_LINES; i++) {
		assert_true(!lines.line[i] == !again.line[i]);
		if (lines.line[i])
			assert_string_equal(lines.line[i], again.line[i]);
	}
	assert_true(lines.line[1 + OWNERS] && !lines.line[2 + OWNERS]);
	/* Both go on alike. */
	for (int s = 300; s < 400; s++) {
		run(&owners, s, OWNERS);
		run(&back, s, OWNERS);
	}
	for (size_t i = 0; i < OWNERS; i++)
		assert_true(power_owners_factor(&owners, UINT64_MAX - i) -
				    power_owners_factor(&back, UINT64_MAX - i) <
			    1e-6);
}

static void test_nothing_is_written_before_anything_is_learned(void **state)
{
	struct power_owners owners;
	char line[POWER_OWNERS_LINE_MAX];

	learn(&owners, 10);
	for (size_t i = 0; i < POWER_OWNERS_LINES; i++)
		assert_int_equal(power_owners_format(&owners, i, line, sizeof(line)), 0);
}

/* Half of them end: after a quarter of an hour they are not written, nor in the rows of others. */
static void test_owners_that_are_gone_are_left_out(void **state)
{
	struct power_owners owners, back;
	static struct lines lines;
	size_t there = 0;

	learn(&owners, 300);
	for (int s = 300; s < 1500; s++)
		run(&owners, s, OWNERS / 2);
	write_lines(&owners, &lines);
	assert_int_equal(power_owners_parse(lines.line, &back), 0);
	for (size_t i = 0; i < POWER_OWNERS; i++) {
		there += back.owner[i].key != 0;
		for (size_t j = 0; j < i; j++)
			assert_true(back.xx[i * (i + 1) / 2 + j] <= 0 ||
				    (back.owner[i].key && back.owner[j].key));
	}
	assert_int_equal(there, OWNERS / 2);
}

static void test_small_buffer(void **state)
{
	struct power_owners owners;
	static struct lines lines;

	learn(&owners, 100);
	write_lines(&owners, &lines);
	for (size_t i = 0; i < 3; i++)
		for (size_t size = 0; size <= strlen(lines.line[i]); size++) {
			char *exact = malloc(size + 1);

			assert_non_null(exact);
			assert_int_equal(power_owners_format(&owners, i, exact, size), -ENOSPC);
			free(exact);
		}
}

static void assert_refused(size_t line, const char *from, const char *to)
{
	struct power_owners owners, back = { .compared_s = 17 };
	static struct lines lines;
	char edited[2 * POWER_OWNERS_LINE_MAX];
	const char *at;

	learn(&owners, 100);
	write_lines(&owners, &lines);
	at = strstr(lines.line[line], from);
	assert_non_null(at);
	(void)snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - lines.line[line]),
		       lines.line[line], to, at + strlen(from));
	lines.line[line] = edited;
	assert_int_equal(power_owners_parse(lines.line, &back), -EINVAL);
	assert_true(back.compared_s > 16 && !back.is_known); /* untouched */
}

static void test_garbage_is_refused(void **state)
{
	const char *none[POWER_OWNERS_LINES] = { 0 };
	struct power_owners back;

	assert_int_equal(power_owners_parse(none, &back), -EINVAL);
	none[0] = none[1] = "";
	assert_int_equal(power_owners_parse(none, &back), -EINVAL);
	assert_refused(0, "fit=1", "fit=2");
	assert_refused(0, "is_better=", "is_better=2");
	assert_refused(0, "work_w2=", "work_w2=-");
	assert_refused(0, "noise_w2=", "noise_w2=nan");
	assert_refused(0, "coefficient=", "coefficient=1,");
	assert_refused(0, "coefficient=", "coefficients=");
	assert_refused(1, "xx=", "xx=1e29");
	assert_refused(1, " yy=", " yy=0.000001"); /* no readings have such sums */
	assert_refused(1, " yy=", " more=1 yy=");
	assert_refused(2, "key=", "key=0 key=");
	assert_refused(2, "factor=", "factor=9");
	assert_refused(2, " power=", " power=9999999");
	assert_refused(2, " cross=", " cross=9999999");
	assert_refused(3, "18446744073709551", "18446744073709551616");
	assert_refused(3, "xx=", "xx=9999999");
}

/* Whatever bytes stand in the file, what is accepted can go on learning. */
static const char *parse_is_safe(struct property_source *source, void *userdata)
{
	struct lines lines = *(const struct lines *)userdata;
	struct power_owners owners;
	uint64_t edits = draw_below(source, 4);

	for (size_t i = 0; i < POWER_OWNERS_LINES; i++)
		lines.line[i] = lines.line[i] ? lines.text[i] : NULL;
	for (uint64_t i = 0; i < edits; i++) {
		char *text = lines.text[draw_below(source, 2 + OWNERS)];

		text[draw_below(source, strlen(text))] =
			"0123456789.e-, =\nx"[draw_below(source, 18)];
	}
	if (power_owners_parse(lines.line, &owners) < 0)
		return NULL;
	for (int s = 0; s < 40; s++)
		run(&owners, s, OWNERS);
	for (size_t i = 0; i < POWER_OWNERS; i++)
		if (!(owners.owner[i].factor >= 0 && owners.owner[i].factor <= POWER_OWNERS_MAX))
			return "an absurd factor";
	return NULL;
}

static void test_damaged_lines(void **state)
{
	struct power_owners owners;
	static struct lines lines;

	learn(&owners, 200);
	write_lines(&owners, &lines);
	assert_true(property_check("fit lines", parse_is_safe, &lines, 3000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_nothing_is_written_before_anything_is_learned),
		cmocka_unit_test(test_owners_that_are_gone_are_left_out),
		cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_garbage_is_refused),
		cmocka_unit_test(test_damaged_lines),
	};

	return unit_run(tests);
}
