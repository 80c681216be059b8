// SPDX-License-Identifier: Apache-2.0
#include "trial/load_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define SLICE "system.slice"

static bool join(const char *cgroup)
{
	char path[LOAD_CGROUP_PATH + 16];

	if (path_join(path, sizeof(path), cgroup, "cgroup.procs") < 0)
		return false;
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

/*
 * A cgroup that can be made need not take a process: not a cpuset without CPUs, nor one outside
 * this process's cgroup namespace. A child tries.
 */
static bool takes_processes(const char *cgroup)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(join(cgroup) ? EXIT_SUCCESS : EXIT_FAILURE);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* An open descriptor that holds the lock of @cgroup; -EBUSY: another program has it. */
static int lock(const char *cgroup)
{
	CLEANUP_FD int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

/* Removes the last @count components of @path, which is changed. */
static void remove_components(char *path, size_t count)
{
	for (; count > 0; count--) {
		(void)rmdir(path);
		*strrchr(path, '/') = '\0';
	}
}

/* Makes @name below @mount, one component after another. False: nothing is left of it. */
static bool make_components(const char *mount, const char *name, char *path, size_t *ret_made)
{
	size_t made = 0;

	if (path_join(path, LOAD_CGROUP_PATH, mount, name) < 0)
		return false;
	for (char *slash = path + strlen(path) - strlen(name); slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		bool is_new = mkdir(path, 0755) == 0, is_there = is_new || errno == EEXIST;
		made += is_new;
		if (!is_there) {
			*strrchr(path, '/') = '\0';
			remove_components(path, made);
			return false;
		}
		if (slash)
			*slash = '/';
	}
	/* The last one has a name that only this program uses: a killed run may have left it. */
	*ret_made = made > 0 ? made : 1;
	return true;
}

/* 0, also where the hierarchy cannot be used; or -EBUSY. */
static int add_hierarchy(struct load_cgroup *cgroup, const char *mount, const char *name)
{
	size_t i = cgroup->count;
	char locked[LOAD_CGROUP_PATH];

	if (i == LOAD_CGROUPS_MAX)
		return 0;
	char *path = cgroup->paths[i];
	if (!make_components(mount, name, path, &cgroup->made[i]) ||
	    path_join(locked, sizeof(locked), mount,
		      cgroup->pod[0] ? LOAD_CGROUP_PODS : SLICE "/" LOAD_CGROUP) < 0)
		return 0;
	int fd = lock(locked);
	if (fd >= 0 && takes_processes(path)) {
		cgroup->locks[cgroup->count++] = fd;
		return 0;
	}
	/* The service is the other validator's. */
	if (fd != -EBUSY || cgroup->pod[0])
		remove_components(path, cgroup->made[i]);
	if (fd >= 0)
		(void)close(fd);
	return fd == -EBUSY ? fd : 0;
}

/* @count random hexadecimal digits. False if there are none. */
static bool fill_with_digits(char *ret, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char byte;

		if (getrandom(&byte, 1, 0) != 1)
			return false;
		ret[i] = "0123456789abcdef"[byte & 15];
	}
	ret[count] = '\0';
	return true;
}

/* A new uid and id, with which no pod or container is mistaken for another. */
static bool name_pod(struct load_cgroup *cgroup, char *ret_name, size_t size)
{
	char digits[33];

	if (!fill_with_digits(digits, 32) || !fill_with_digits(cgroup->container, 64))
		return false;
	(void)snprintf(cgroup->pod, sizeof(cgroup->pod), "%.8s-%.4s-4%.3s-a%.3s-%.12s", digits,
		       digits + 8, digits + 13, digits + 17, digits + 20);
	(void)snprintf(ret_name, size, LOAD_CGROUP_PODS "/kubepods/burstable/pod%s/%s", cgroup->pod,
		       cgroup->container);
	return true;
}

int load_cgroup_make(const char *mounts_path, enum load_cgroup_shape shape, struct load_cgroup *ret)
{
	char name[LOAD_CGROUP_PATH] = SLICE "/" LOAD_CGROUP;
	struct mntent entry;
	char text[4096];
	int r = 0;

	*ret = (struct load_cgroup){ .container = LOAD_CGROUP };
	if (shape == LOAD_CGROUP_POD && !name_pod(ret, name, sizeof(name)))
		return 0;
	FILE *mounts = setmntent(mounts_path, "re");
	while (r == 0 && mounts && getmntent_r(mounts, &entry, text, sizeof(text)))
		if (strcmp(entry.mnt_type, "cgroup2") == 0 || strcmp(entry.mnt_type, "cgroup") == 0)
			r = add_hierarchy(ret, entry.mnt_dir, name);
	if (mounts)
		(void)endmntent(mounts);
	if (r < 0)
		load_cgroup_remove(ret);
	return r;
}

void load_cgroup_join(const struct load_cgroup *cgroup)
{
	/* One hierarchy that refuses later is enough of a name elsewhere. */
	for (size_t i = 0; i < cgroup->count; i++)
		(void)join(cgroup->paths[i]);
}

/* "usage_usec" of cpu.stat, or cpuacct.usage in ns; NAN. */
static double read_cpu_s(const char *cgroup)
{
	char path[LOAD_CGROUP_PATH + 16], text[4096];
	const char *usage;

	if (path_join(path, sizeof(path), cgroup, "cpu.stat") == 0 &&
	    read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0 &&
	    (usage = strstr(text, "usage_usec ")))
		return 1e-6 * strtod(usage + strlen("usage_usec "), NULL);
	if (path_join(path, sizeof(path), cgroup, "cpuacct.usage") == 0 &&
	    read_file_at(AT_FDCWD, path, text, sizeof(text)) > 0)
		return 1e-9 * strtod(text, NULL);
	return NAN;
}

double load_cgroup_cpu_s(const struct load_cgroup *cgroup)
{
	double cpu_s = NAN;

	for (size_t i = 0; i < cgroup->count && isnan(cpu_s); i++)
		cpu_s = read_cpu_s(cgroup->paths[i]);
	return cpu_s;
}

void load_cgroup_signal(const struct load_cgroup *cgroup, int number)
{
	char path[LOAD_CGROUP_PATH + 16];

	for (size_t i = 0; i < cgroup->count; i++) {
		char line[32];
		uint64_t pid;

		if (path_join(path, sizeof(path), cgroup->paths[i], "cgroup.procs") < 0)
			continue;
		FILE *file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (parse_u64(line, strcspn(line, "\n"), &pid) == 0 && pid > 1)
				(void)kill((pid_t)pid, number);
		if (file)
			(void)fclose(file);
	}
}

void load_cgroup_remove(struct load_cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->count; i++) {
		remove_components(cgroup->paths[i], cgroup->made[i]);
		(void)close(cgroup->locks[i]);
	}
	cgroup->count = 0;
}
