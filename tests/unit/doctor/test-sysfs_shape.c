// SPDX-License-Identifier: Apache-2.0
#include "doctor/sysfs_shape.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define LIMIT_NS (20 * NSEC_PER_SEC)

static char top[] = "/tmp/kepler-shape-XXXXXX";
static char root[64];

static void make(const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(full, 0700);
		*slash = '/';
	}
	assert_int_equal(write_file_atomic(full, text, strlen(text), 0600), 0);
}

static void make_link(const char *path, const char *target)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(symlink(target, full), 0);
}

static int setup(void **state)
{
	assert_non_null(mkdtemp(top));
	(void)snprintf(root, sizeof(root), "%s/[a]*", top); /* no pattern, but a name */
	assert_int_equal(mkdir(root, 0700), 0);
	make("devices/virtual/powercap/intel-rapl:0/name", "package-0\n");
	make("devices/virtual/powercap/intel-rapl:0/energy_uj", "123456\n");
	make("devices/virtual/powercap/intel-rapl:0/uevent", "SECRET=1\n");
	make("devices/virtual/dmi/id/sys_vendor", "Vendor\twith a tab \n");
	make("devices/virtual/dmi/id/product_serial", "SECRET\n");
	make("class/powercap/.keep", "");
	make_link("class/powercap/intel-rapl:0", "../../devices/virtual/powercap/intel-rapl:0");
	make("devices/i2c-1/1-0040/hwmon/hwmon3/name", "ina226\n");
	make_link("devices/i2c-1/1-0040/hwmon/hwmon3/device", "../../../1-0040");
	make("class/hwmon/.keep", "");
	make_link("class/hwmon/hwmon3", "../../devices/i2c-1/1-0040/hwmon/hwmon3");
	make("class/dmi/.keep", "");
	make_link("class/dmi/id", "../../devices/virtual/dmi/id");
	make("../outside/name", "SECRET\n"); /* next to the root */
	make_link("class/powercap/away", "../../../outside");
	return 0;
}

static int teardown(void **state)
{
	return remove_tree(top);
}

static void files_are_at_their_real_paths(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	assert_int_equal(sysfs_shape_read(root, SYSFS_SHAPE_ALL, LIMIT_NS, &text), 0);
	assert_string_equal(
		text.data,
		"class/dmi/id -> ../../devices/virtual/dmi/id\n"
		"class/hwmon/hwmon3 -> ../../devices/i2c-1/1-0040/hwmon/hwmon3\n"
		"class/powercap/away -> ../../../outside\n"
		"class/powercap/intel-rapl:0 -> ../../devices/virtual/powercap/intel-rapl:0\n"
		"devices/i2c-1/1-0040/hwmon/hwmon3/device -> ../../../1-0040\n"
		"devices/i2c-1/1-0040/hwmon/hwmon3/name = ina226\n"
		"devices/virtual/dmi/id/sys_vendor = Vendor?with a tab\n"
		"devices/virtual/powercap/intel-rapl:0/energy_uj = 123456\n"
		"devices/virtual/powercap/intel-rapl:0/name = package-0\n");
}

static void values_alone(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	assert_int_equal(sysfs_shape_read(root, SYSFS_SHAPE_VALUES, LIMIT_NS, &text), 0);
	assert_string_equal(text.data,
			    "devices/virtual/powercap/intel-rapl:0/energy_uj = 123456\n");
}

static void a_root_that_is_not_there(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	assert_int_equal(sysfs_shape_read("/nothing/here", SYSFS_SHAPE_ALL, LIMIT_NS, &text),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_at_their_real_paths),
		cmocka_unit_test(values_alone),
		cmocka_unit_test(a_root_that_is_not_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
