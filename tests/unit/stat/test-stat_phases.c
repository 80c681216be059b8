// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_phases.h"

#include <math.h>

#include "tests/unit/unit.h"

static struct stat_phases phases;

static void begin(const char *name, double seconds, double joules)
{
	const struct stat_moment now = { seconds, joules, seconds / 2 };

	stat_phases_begin(&phases, name, &now);
}

static void assert_phase(size_t i, double seconds, double joules)
{
	assert_true(fabs(phases.phases[i].used.seconds - seconds) < 1e-9);
	assert_true(fabs(phases.phases[i].used.joules - joules) < 1e-9);
	assert_true(fabs(phases.phases[i].used.cpu_seconds - seconds / 2) < 1e-9);
}

static void phases_add_up_to_the_whole(void **state)
{
	const struct stat_moment end = { 10, 100, 5 };
	struct strbuf text = STRBUF_INIT;

	phases = (struct stat_phases){ .count = 0 };
	stat_phases_end(&phases, &end);
	begin("(start)", 0, 0);
	begin("\033[2Jlink", 4, 30);
	begin("test", 6, 35);
	stat_phases_end(&phases, &end);
	assert_int_equal(phases.count, 3);
	assert_phase(0, 4, 30);
	assert_phase(1, 2, 5);
	assert_phase(2, 4, 65);
	stat_phases_text(&phases, &text);
	assert_null(strchr(text.data, '\033'));
	assert_non_null(
		strstr(text.data, "          5.000000 J     ?[2Jlink                 # phase of"));
	strbuf_reset(&text);
	stat_phases_json(&phases, &text);
	assert_non_null(strstr(text.data, "{\"phase\":\"test\",\"joules\":65.000000,"));
	strbuf_release(&text);
}

static void further_phases_belong_to_the_last(void **state)
{
	const struct stat_moment end = { 1000, 1000, 500 };

	phases = (struct stat_phases){ .count = 0 };
	for (int i = 0; i < STAT_PHASES_MAX + 5; i++)
		begin("phase", i, i);
	stat_phases_end(&phases, &end);
	assert_int_equal(phases.count, STAT_PHASES_MAX);
	assert_phase(STAT_PHASES_MAX - 1, 1000 - (STAT_PHASES_MAX - 1),
		     1000 - (STAT_PHASES_MAX - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_add_up_to_the_whole),
		cmocka_unit_test(further_phases_belong_to_the_last),
	};

	return unit_run(tests);
}
