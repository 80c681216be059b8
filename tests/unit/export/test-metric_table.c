// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/macro.h"
#include "export/exposition.h"
#include "export/metric_table.h"

static void names_follow_the_conventions(void **state)
{
	const struct metric *table;
	size_t count;

	(void)state;
	table = metric_table(&count);
	for (size_t i = 0; i < count; i++) {
		const struct metric *metric = &table[i];
		size_t name_len = strlen(metric->name), unit_len = strlen(metric->unit);

		if (name_len + 8 >= FAMILY_NAME_MAX - 32 || unit_len >= name_len ||
		    strcmp(metric->name + name_len - unit_len, metric->unit) != 0 ||
		    strstr(metric->name, "_total") || strstr(metric->name, "_info") ||
		    strncmp(metric->name, "kepler_", 7) != 0 || !metric->schemas || !metric->emit)
			fail_msg("%s", metric->name);
		if (!isupper((unsigned char)metric->help[0]) || strpbrk(metric->help, "\n\\|") ||
		    !strchr(".", metric->help[strlen(metric->help) - 1]))
			if (!strstr(metric->help, "1 or 0."))
				fail_msg("help of %s", metric->name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(table[j].name, metric->name);
	}
}

static void the_reference_is_current(void **state)
{
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;
	CLEANUP_FREE char *have = NULL;
	const char *root = getenv("TEST_SOURCE_ROOT");
	char path[4096];
	size_t len = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/docs/metrics.md", root ? root : ".");
	assert_int_equal(metric_reference(&want), 0);
	if (read_file_alloc(path, 1 << 20, &have, &len) < 0 || strcmp(have, want.data) != 0) {
		print_error("docs/metrics.md is not what src/export/metric_table.c says: build "
			    "and run src/export/write-metrics-reference\n");
		fail();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_follow_the_conventions),
		cmocka_unit_test(the_reference_is_current),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
