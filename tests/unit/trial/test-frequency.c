// SPDX-License-Identifier: Apache-2.0
#include "trial/frequency.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define POLICY "devices/system/cpu/cpufreq/policy%u"

static char folder[64];
static struct frequency frequency;

static void write_file(unsigned policy, const char *name, unsigned khz)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/" POLICY "/%s", folder, policy, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	(void)fprintf(file, "%u\n", khz);
	assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
	char command[256];

	(void)snprintf(folder, sizeof(folder), "/tmp/kepler-freq-XXXXXX");
	assert_non_null(mkdtemp(folder));
	for (unsigned policy = 0; policy < 2; policy++) {
		(void)snprintf(command, sizeof(command), "mkdir -p %s/" POLICY, folder, policy);
		assert_int_equal(system(command), 0);
		write_file(policy, "cpuinfo_min_freq", 800000);
		write_file(policy, "cpuinfo_max_freq", policy == 0 ? 4000000 : 3000000);
		write_file(policy, "scaling_max_freq", policy == 0 ? 3900000 : 2900000);
	}
	return 0;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static unsigned limit_of(unsigned policy)
{
	char path[256], text[32];

	(void)snprintf(path, sizeof(path), "%s/" POLICY "/scaling_max_freq", folder, policy);
	assert_true(read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0);
	return (unsigned)strtoul(text, NULL, 10);
}

static void limits_are_set_and_restored(void **state)
{
	assert_null(frequency_obstacle(folder));
	assert_int_equal(frequency_open(folder, &frequency), 0);
	assert_int_equal(frequency.count, 2);
	assert_int_equal(frequency_limit(&frequency, 0.5), 0);
	assert_int_equal(limit_of(0), 2000000);
	assert_int_equal(limit_of(1), 1500000);
	assert_int_equal(frequency_limit(&frequency, 0.1), 0);
	assert_int_equal(limit_of(0), 800000);
	assert_int_equal(frequency_limit(&frequency, 0), 0);
	assert_int_equal(limit_of(0), 3900000);
	assert_int_equal(frequency_limit(&frequency, 0.5), 0);
	/* A service manager that ends all processes does not end the guard. */
	assert_int_equal(kill(frequency.guard, SIGTERM), 0);
	assert_int_equal(kill(frequency.guard, SIGINT), 0);
	assert_int_equal(frequency_restore(&frequency), 0);
	assert_int_equal(limit_of(0), 3900000);
	assert_int_equal(limit_of(1), 2900000);
	assert_int_equal(frequency_restore(&frequency), 0);
}

static void limits_are_restored_after_a_kill(void **state)
{
	int status;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (frequency_open(folder, &frequency) == 0 &&
		    frequency_limit(&frequency, 0.5) == 0)
			(void)raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(waitpid(-1, &status, 0) > 0); /* the guard, which is ours now */
	assert_int_equal(status, 0);
	assert_int_equal(limit_of(0), 3900000);
	assert_int_equal(limit_of(1), 2900000);
}

static void a_limit_that_is_not_restored_is_reported(void **state)
{
	char path[256];

	assert_int_equal(frequency_open(folder, &frequency), 0);
	(void)snprintf(path, sizeof(path), "%s/" POLICY "/scaling_max_freq", folder, 1U);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(frequency_restore(&frequency), -EIO);
}

static void without_policies_there_is_an_obstacle(void **state)
{
	assert_non_null(strstr(frequency_obstacle("/nonexistent"), "no frequency limits"));
	assert_int_equal(frequency_open("/nonexistent", &frequency), -ENOENT);
	assert_int_equal(frequency_restore(&frequency), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(limits_are_set_and_restored, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(limits_are_restored_after_a_kill, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_limit_that_is_not_restored_is_reported,
						make_folder, remove_folder),
		cmocka_unit_test(without_policies_there_is_an_obstacle),
	};
	return unit_run(tests);
}
