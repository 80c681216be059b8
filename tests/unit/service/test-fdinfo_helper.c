// SPDX-License-Identifier: Apache-2.0
/*
 * A process in Landlock that reads fdinfo of another: the kernel refuses it that, with all
 * capabilities, and the helper opens it. Each in a process of its own.
 */
#include "service/fdinfo_helper.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "service/confine.h"
#include "service/landlock.h"
#include "service/privileges.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

static const uint32_t majors[] = { 136 }; /* terminals stand for GPUs */

static struct fdinfo_helper *start(const char *procfs)
{
	const struct fdinfo_helper_options options = { procfs, majors, ARRAY_SIZE(majors), true };
	struct fdinfo_helper *helper = NULL;
	struct diag diag;

	return fdinfo_helper_start(&options, &helper, &diag) == 0 ? helper : NULL;
}

static bool enter_landlock(void)
{
	const struct landlock_paths paths = { .writable_count = 0 };
	struct diag diag;
	int rules = landlock_rules(&paths, NULL, NULL, &diag);

	return rules >= 0 && landlock_enter(rules, &diag) > 0;
}

static bool says(int fd, const char *wanted)
{
	char text[1024];

	return read_fd(fd, text, sizeof(text)) > 0 && strstr(text, wanted);
}

/* Where the kernel has no Landlock a capability is given up, which has the same effect. */
static bool become_confined(void)
{
	struct diag diag;

	return landlock_abi() ? enter_landlock() : privileges_keep(0, &diag) == 0;
}

static int read_of_another(const void *argument)
{
	const pid_t *pid = argument;
	struct fdinfo_helper *helper = start("/proc");
	char path[64];
	CLEANUP_FD int info = -1;

	if (!helper || !become_confined())
		return 1;
	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/0", *pid);
	if (open(path, O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return 2;
	info = fdinfo_helper_open(helper, (uint32_t)*pid, 0);
	if (info < 0)
		return 3;
	/* The text is the current one: where the other process is in its file. */
	if (!says(info, "pos:\t0\n") || kill(*pid, SIGUSR1) < 0)
		return 4;
	while (!says(info, "pos:\t1\n"))
		;
	if (fdinfo_helper_open(helper, (uint32_t)*pid, 9999) != -ENOENT)
		return 5;
	fdinfo_helper_stop(helper);
	return 0;
}

static int files[2];

static void read_a_byte(int signal)
{
	char byte;

	(void)signal;
	(void)!read(STDIN_FILENO, &byte, 1);
}

static pid_t start_other(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGUSR1, read_a_byte);
		(void)dup2(open("/proc/self/status", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
		(void)!write(files[1], "", 1);
		for (;;)
			(void)pause();
	}
	(void)!read(files[0], &(char){ 0 }, 1);
	return pid;
}

static void what_landlock_forbids_the_helper_opens(void **state)
{
	pid_t pid;

	assert_int_equal(pipe(files), 0);
	pid = start_other();
	assert_true(pid > 0);
	assert_int_equal(in_child(read_of_another, &pid), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#define CHILDREN 10
#define COPIES   60 /* of a terminal in each: together more than a packet has */

/* They end with this process. */
static bool start_children(pid_t pids[CHILDREN])
{
	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return false;
		if (pids[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			for (;;)
				(void)pause();
		}
	}
	return true;
}

static size_t of_children(const struct open_device *list, size_t count, const pid_t pids[CHILDREN])
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		for (int child = 0; child < CHILDREN; child++)
			found += list[i].pid == (uint32_t)pids[child] && list[i].major == 136;
	return found;
}

static int search_all(const void *argument)
{
	static struct open_device list[4096];
	struct fdinfo_helper *helper = start("/proc");
	struct open_devices found;
	pid_t pids[CHILDREN];
	int terminals[2];

	(void)argument;
	if (!helper || openpty(&terminals[0], &terminals[1], NULL, NULL, NULL) < 0)
		return 1;
	for (int i = 1; i < COPIES; i++)
		(void)!dup(terminals[1]);
	if (!start_children(pids) || !become_confined() ||
	    fdinfo_helper_search(helper, list, 4096, &found) < 0)
		return 2;
	if (of_children(list, found.count, pids) != CHILDREN * COPIES || !found.cpu_ns)
		return 3;
	if (fdinfo_helper_search(helper, list, 10, &found) < 0 || found.count != 10 ||
	    found.beyond < CHILDREN * COPIES - 10)
		return 4;
	fdinfo_helper_stop(helper);
	return 0;
}

static void it_searches_what_it_may_see(void **state)
{
	assert_int_equal(in_child(search_all, NULL), 0);
}

static pid_t only_child(void)
{
	char path[64], text[32];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0 ? (pid_t)strtol(text, NULL, 10)
								    : -1;
}

/* How many filters a process has: a container's runtime may have given it some. */
static long filters_of(const char *status)
{
	const char *line = strstr(status, "\nSeccomp_filters:\t");

	return line ? strtol(line + strlen("\nSeccomp_filters:\t"), NULL, 10) : -1;
}

/* It may trace all processes: any system call that it does not need ends it. */
static int look_at_its_filter(const void *argument)
{
	struct fdinfo_helper *helper = start("/proc");
	char path[64], status[4096], own[4096];

	(void)argument;
	/* It answers once it is confined. */
	if (!helper || fdinfo_helper_open(helper, (uint32_t)getpid(), 0) < 0)
		return 1;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", only_child());
	if (read_file_at(AT_FDCWD, path, status, sizeof(status)) <= 0 ||
	    read_file_at(AT_FDCWD, "/proc/self/status", own, sizeof(own)) <= 0)
		return 2;
	if (!strstr(status, "\nSeccomp:\t2\n") || filters_of(status) != filters_of(own) + 1)
		return 3;
	fdinfo_helper_stop(helper);
	return 0;
}

static void its_system_calls_are_filtered(void **state)
{
	struct diag diag;

	if (confine_is_supported(&diag))
		assert_int_equal(in_child(look_at_its_filter, NULL), 0);
}

static int end_it(const void *argument)
{
	struct fdinfo_helper *helper = start("/proc");
	struct open_devices found;
	struct open_device device;

	(void)argument;
	if (!helper || fdinfo_helper_open(helper, (uint32_t)getpid(), 0) < 0)
		return 1;
	fdinfo_helper_stop(helper);
	if (wait(NULL) != -1 || errno != ECHILD) /* it ends by itself, and nothing is left */
		return 2;
	helper = start("/nonexistent");
	if (!helper || fdinfo_helper_search(helper, &device, 1, &found) != -EBADF)
		return 3;
	if (fdinfo_helper_open(helper, 1, 0) != -EBADF)
		return 4;
	if (kill(only_child(), SIGKILL) < 0 || wait(NULL) != -1)
		return 5;
	if (fdinfo_helper_open(helper, 1, 0) != -EPIPE ||
	    fdinfo_helper_search(helper, &device, 1, &found) != -EPIPE)
		return 6;
	fdinfo_helper_stop(helper);
	return 0;
}

static void the_program_outlives_the_helper(void **state)
{
	assert_int_equal(in_child(end_it, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_landlock_forbids_the_helper_opens),
		cmocka_unit_test(it_searches_what_it_may_see),
		cmocka_unit_test(its_system_calls_are_filtered),
		cmocka_unit_test(the_program_outlives_the_helper),
	};

	if (geteuid() != 0) {
		(void)puts("1..0 # SKIP needs root");
		return 0;
	}
	return unit_run(tests);
}
