// SPDX-License-Identifier: Apache-2.0
#include "evidence/artifact_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct artifact_pairs pairs;
static char folder[64];

static void add(const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
}

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/artifacts-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[PATH_MAX];

	artifact_pairs_release(&pairs);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static int pair(const char *actual, const char *predicted, struct diag *diag)
{
	char from[PATH_MAX], to[PATH_MAX];

	(void)snprintf(from, sizeof(from), "%s%s", folder, actual);
	(void)snprintf(to, sizeof(to), "%s%s", folder, predicted);
	assert_true(artifact_folder_is(from) && artifact_folder_is(to));
	return artifact_folder_pair(from, to, &pairs, diag);
}

static void files_that_differ_by_their_label_are_pairs(void **state)
{
	struct diag diag = { "" };

	add("metal-kepler_node_package_joules_total--dynamic.json");
	add("vm-kepler_node_package_joules_total--dynamic.json");
	add("metal-kepler_node_dram_joules_total--dynamic.json");
	add("vm-kepler_node_dram_joules_total--dynamic.json");
	add("metal-kepler_node_dram_joules_total--idle.json");
	add("metalwork-kepler_node_dram_joules_total--dynamic.json");
	add("metal-notes.txt");
	assert_int_equal(pair("#metal", "#vm", &diag), 0);
	assert_int_equal(pairs.count, 2);
	assert_int_equal(pairs.alone, 1);
	assert_string_equal(pairs.items[0].name, "kepler_node_dram_joules_total--dynamic");
	assert_string_equal(pairs.items[1].name, "kepler_node_package_joules_total--dynamic");
	assert_non_null(strstr(pairs.items[1].actual, "/metal-kepler_node_package"));
	assert_non_null(strstr(pairs.items[1].predicted, "/vm-kepler_node_package"));
}

static void labels_without_a_pair_are_an_error(void **state)
{
	struct diag diag = { "" };

	add("metal-kepler_node_package_joules_total--dynamic.json");
	assert_int_equal(pair("#metal", "#vm", &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "has no file LABEL-METRIC--MODE.json with a partner"));
	assert_false(artifact_folder_is("/nowhere#metal"));
	assert_false(artifact_folder_is("#metal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_that_differ_by_their_label_are_pairs,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(labels_without_a_pair_are_an_error, make_folder,
						remove_folder),
	};
	return unit_run(tests);
}
