// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/law_meter.h"

#include <errno.h>

#include "tests/unit/unit.h"

static void a_law_is_read(void **state)
{
	struct truth_law law;
	struct diag diag = { "" };

	assert_int_equal(truth_law_parse("cpu=10.5,idle=20", &law, &diag), 0);
	assert_string_equal(law.zone, "package");
	assert_float_equal(law.idle_w, 20, 0);
	assert_float_equal(law.cpu_w, 10.5, 0);
	assert_int_equal(truth_law_parse("zone=platform,idle=5", &law, &diag), 0);
	assert_string_equal(law.zone, "platform");
	assert_float_equal(law.cpu_w, 0, 0);
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",         "idle",    "idle=",         "idle=-1,cpu=5", "idle=nan",
		"idle=2e6", "watts=3", "idle=1,,cpu=2", "zone=",         "zone=a b,idle=1"
	};
	struct truth_law law;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct diag diag = { "" };

		assert_int_equal(truth_law_parse(texts[i], &law, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, "truth.law: must"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_law_is_read),
		cmocka_unit_test(other_texts_are_refused),
	};
	return unit_run(tests);
}
