// SPDX-License-Identifier: Apache-2.0
#include "host/char_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void drivers_are_known_by_their_whole_name(void **state)
{
	(void)state;
	char folder[] = "/tmp/kepler-test-XXXXXX", path[64];
	FILE *file;

	assert_non_null(mkdtemp(folder));
	assert_false(char_driver_is_loaded(folder, "drm"));
	(void)snprintf(path, sizeof(path), "%s/devices", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("Character devices:\n  1 mem\n226 drm\n261 accel\n\n"
		    "Block devices:\n  8 sd\n254 virtblk\n",
		    file);
	assert_int_equal(fclose(file), 0);
	assert_true(char_driver_is_loaded(folder, "drm"));
	assert_true(char_driver_is_loaded(folder, "accel"));
	assert_true(char_driver_is_loaded(folder, "mem"));
	assert_false(char_driver_is_loaded(folder, "dr"));
	assert_false(char_driver_is_loaded(folder, "drm2"));
	assert_false(char_driver_is_loaded(folder, "devices:"));
	assert_false(char_driver_is_loaded(folder, "sd"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drivers_are_known_by_their_whole_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
