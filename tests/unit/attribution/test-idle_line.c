// SPDX-License-Identifier: Apache-2.0
/* The learner's line in the state file: what was written is read, anything else is refused. */
#include "attribution/learning/idle.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static void learn(struct idle_learner *learner, int seconds)
{
	idle_learner_init(learner);
	for (int s = 0; s < seconds; s++) {
		double x = s * 37 % 100 / 100.0;

		idle_learner_add(learner, 50 + 100 * x + s * 13 % 7 / 10.0, x, 1000000000ULL);
	}
}

static void test_round_trip(void **state)
{
	const int lengths[] = { 0, 1, 31, 200, 5000 };

	for (size_t i = 0; i < 5; i++) {
		struct idle_learner learner, back;
		char line[IDLE_LINE_MAX], again[IDLE_LINE_MAX];
		uint64_t uw = 1, uw_back = 2;
		int len;

		learn(&learner, lengths[i]);
		len = idle_learner_format(&learner, line, sizeof(line));
		assert_int_equal(len, strlen(line));
		assert_memory_equal(line, "idle=3 ", 7);
		assert_int_equal(idle_learner_parse(line, &back), 0);
		assert_int_equal(idle_learner_format(&back, again, sizeof(again)), len);
		assert_string_equal(line, again);
		assert_int_equal(idle_learner_get(&learner, &uw),
				 idle_learner_get(&back, &uw_back));
		if (lengths[i] >= 200)
			assert_int_equal(uw, uw_back);
	}
}

/* A line of the version before has no quiet times: the floor's stand for them. */
static void test_the_version_before_is_read(void **state)
{
	struct idle_learner learner, back;
	char line[IDLE_LINE_MAX], *quiet, *rest;

	learn(&learner, 200);
	assert_true(idle_learner_format(&learner, line, sizeof(line)) > 0);
	quiet = strstr(line, " quiet_w=");
	rest = strstr(line, " floor_candidate_w=");
	memmove(quiet, rest, strlen(rest) + 1);
	assert_int_equal(idle_learner_parse(line, &back), -EINVAL);
	line[5] = '2';
	assert_int_equal(idle_learner_parse(line, &back), 0);
	assert_float_equal(back.quiet_w, learner.floor_w, 1e-9);
	assert_float_equal(back.quiet_x, learner.floor_x, 1e-9);
	assert_int_equal(back.learned, learner.learned);
}

static void test_small_buffer(void **state)
{
	struct idle_learner learner;
	char line[IDLE_LINE_MAX];
	int len;

	learn(&learner, 200);
	len = idle_learner_format(&learner, line, sizeof(line));
	for (size_t size = 0; size <= (size_t)len; size++) {
		char *exact = malloc(size + 1);

		assert_non_null(exact);
		assert_int_equal(idle_learner_format(&learner, exact, size), -ENOSPC);
		free(exact);
	}
}

static void assert_refused(const char *from, const char *to)
{
	struct idle_learner learner, back = { .w = 17 };
	char line[IDLE_LINE_MAX], edited[2 * IDLE_LINE_MAX];
	const char *at;

	learn(&learner, 200);
	assert_true(idle_learner_format(&learner, line, sizeof(line)) > 0);
	at = strstr(line, from);
	assert_non_null(at);
	(void)snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - line), line, to,
		       at + strlen(from));
	assert_int_equal(idle_learner_parse(edited, &back), -EINVAL);
	assert_true(back.w > 16.9 && back.w < 17.1); /* untouched */
}

static void test_garbage_is_refused(void **state)
{
	struct idle_learner back;

	assert_int_equal(idle_learner_parse("", &back), -EINVAL);
	assert_int_equal(idle_learner_parse("idle=3", &back), -EINVAL);
	assert_int_equal(idle_learner_parse("hello world", &back), -EINVAL);
	assert_refused("idle=3", "idle=1"); /* learned under a rule that extrapolated */
	assert_refused("idle=3", "idle=30");
	assert_refused(" w=", " w=-");
	assert_refused(" w=", " w=nan");
	assert_refused(" w=", " w=0x");
	assert_refused(" w=", " w=1e300");
	assert_refused(" w=", " w=00000000000000000000000000000000000000000000000000000");
	assert_refused(" wyy=", " wzz=");
	assert_refused(" x_max=", " x_max=5");
	assert_refused(" wyy=", " wyy=0.0000001"); /* no readings have such sums */
	assert_refused("learned=1", "learned=2");
	assert_refused("learned=1", "learned=1 more=1");
	assert_refused(" idle_w=", " idle_w=9"); /* above the floor */
}

/* Whatever bytes stand in the file, what is accepted can go on learning. */
static const char *parse_is_safe(struct property_source *source, void *userdata)
{
	const char *good = userdata;
	struct idle_learner learner;
	char line[IDLE_LINE_MAX];
	size_t len = strlen(good);
	uint64_t edits = draw_below(source, 4), uw;

	memcpy(line, good, len + 1);
	for (uint64_t i = 0; i < edits; i++)
		line[draw_below(source, len)] = "0123456789.e- =\nxw"[draw_below(source, 18)];
	if (idle_learner_parse(line, &learner) < 0)
		return NULL;
	for (int i = 0; i < 20; i++)
		idle_learner_add(&learner, 100, i / 20.0, 10000000000ULL);
	if (idle_learner_get(&learner, &uw) && uw > 1000000000000ULL)
		return "an absurd estimate";
	return NULL;
}

static void test_damaged_lines(void **state)
{
	struct idle_learner learner;
	char line[IDLE_LINE_MAX];

	learn(&learner, 200);
	assert_true(idle_learner_format(&learner, line, sizeof(line)) > 0);
	assert_true(property_check("idle line", parse_is_safe, line, 50000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_the_version_before_is_read),
		cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_garbage_is_refused),
		cmocka_unit_test(test_damaged_lines),
	};

	return unit_run(tests);
}
