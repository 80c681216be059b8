// SPDX-License-Identifier: Apache-2.0
#include "trial/frequency.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define FOLDER "devices/system/cpu/cpufreq"
#define GUARD  "kv-guard"

static int read_khz(const char *folder, const char *name, uint64_t *ret)
{
	char path[FREQUENCY_PATH_MAX], text[32];

	if (path_join(path, sizeof(path), folder, name) < 0)
		return -ENAMETOOLONG;
	ssize_t len = read_file_at(AT_FDCWD, path, text, sizeof(text));
	return len < 0 ? (int)len : parse_u64(text, (size_t)len, ret);
}

static int write_khz(const char *path, uint64_t khz)
{
	char text[FORMAT_U64_MAX];
	size_t len = format_u64(text, khz);
	CLEANUP_FD int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : -errno;
}

static int read_policy(const char *folder, struct frequency_policy *ret)
{
	int r = path_join(ret->path, sizeof(ret->path), folder, "scaling_max_freq");

	if (r == 0)
		r = read_khz(folder, "cpuinfo_min_freq", &ret->low_khz);
	if (r == 0)
		r = read_khz(folder, "cpuinfo_max_freq", &ret->high_khz);
	if (r == 0)
		r = read_khz(folder, "scaling_max_freq", &ret->before_khz);
	return r;
}

static int read_policies(const char *sysfs, struct frequency *ret)
{
	char all[FREQUENCY_PATH_MAX], folder[FREQUENCY_PATH_MAX];
	const struct dirent *entry;
	int r = path_join(all, sizeof(all), sysfs, FOLDER);
	DIR *dir = r == 0 ? opendir(all) : NULL;

	if (!dir)
		return r < 0 ? r : -errno;
	while (r == 0 && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "policy", 6) != 0)
			continue;
		r = ret->count < FREQUENCY_POLICIES_MAX ? 0 : -E2BIG;
		if (r == 0)
			r = path_join(folder, sizeof(folder), all, entry->d_name);
		if (r == 0)
			r = read_policy(folder, &ret->policies[ret->count]);
		if (r == 0)
			ret->count++;
	}
	(void)closedir(dir);
	return r == 0 && ret->count == 0 ? -ENOENT : r;
}

const char *frequency_obstacle(const char *sysfs)
{
	struct frequency *frequency = calloc(1, sizeof(*frequency));
	const char *obstacle = NULL;

	if (!frequency || read_policies(sysfs, frequency) < 0)
		obstacle = "This machine has no frequency limits (cpufreq) that can be read here.";
	for (size_t i = 0; !obstacle && i < frequency->count; i++)
		if (access(frequency->policies[i].path, W_OK) < 0)
			obstacle = "The frequency limits of this machine cannot be changed here.";
	free(frequency);
	return obstacle;
}

static int restore(const struct frequency *frequency)
{
	int r = 0;

	for (size_t i = 0; i < frequency->count; i++)
		if (write_khz(frequency->policies[i].path, frequency->policies[i].before_khz) < 0)
			r = -EIO;
	return r;
}

/* Signals of the terminal and of a service manager do not reach it: they are blocked. */
__attribute__((noreturn)) static void be_guard(const struct frequency *frequency, int fd)
{
	char ignored;

	(void)prctl(PR_SET_NAME, GUARD);
	while (read(fd, &ignored, 1) != 0)
		;
	_exit(restore(frequency) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int start_guard(struct frequency *frequency)
{
	sigset_t signals, before;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)sigfillset(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, &before);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(ends[1]);
		be_guard(frequency, ends[0]);
	}
	int r = pid < 0 ? -errno : 0;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(ends[0]);
	if (r < 0) {
		(void)close(ends[1]);
		return r;
	}
	frequency->guard = pid;
	frequency->guard_fd = ends[1];
	return 0;
}

int frequency_open(const char *sysfs, struct frequency *ret)
{
	memset(ret, 0, sizeof(*ret));
	int r = read_policies(sysfs, ret);

	return r == 0 ? start_guard(ret) : r;
}

int frequency_limit(const struct frequency *frequency, double part)
{
	int r = 0;

	for (size_t i = 0; i < frequency->count && r == 0; i++) {
		const struct frequency_policy *policy = &frequency->policies[i];
		double khz = fmax(part * (double)policy->high_khz, (double)policy->low_khz);

		r = write_khz(policy->path, part > 0 ? (uint64_t)khz : policy->before_khz);
	}
	return r;
}

int frequency_restore(struct frequency *frequency)
{
	int status = EXIT_FAILURE;
	pid_t ended;

	if (frequency->guard == 0)
		return 0;
	(void)close(frequency->guard_fd);
	do
		ended = waitpid(frequency->guard, &status, 0);
	while (ended < 0 && errno == EINTR);
	frequency->guard = 0;
	return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : -EIO;
}
