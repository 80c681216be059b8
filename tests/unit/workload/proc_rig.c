// SPDX-License-Identifier: Apache-2.0
#include "proc_rig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PIDS_MAX 400

static char procfs[] = "/tmp/kepler-test-XXXXXX";
static const char *const files[] = { "/stat", "/cgroup", "/cmdline", "/status", "/exe" };

int rig_setup(void **state)
{
	memcpy(procfs + strlen(procfs) - 6, "XXXXXX", 6);
	return mkdtemp(procfs) ? 0 : -1;
}

const char *rig_procfs(void)
{
	return procfs;
}

static void pid_path(uint32_t pid, const char *name, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/%u%s", procfs, pid, name);
}

void rig_forget(uint32_t pid)
{
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		pid_path(pid, files[i], path, sizeof(path));
		(void)unlink(path);
	}
	pid_path(pid, "", path, sizeof(path));
	(void)rmdir(path);
}

int rig_teardown(void **state)
{
	for (uint32_t pid = 1; pid < PIDS_MAX; pid++)
		rig_forget(pid);
	return rmdir(procfs);
}

static void write_file(uint32_t pid, const char *name, const char *text, size_t len)
{
	char path[128];
	int fd;

	assert_true(pid < PIDS_MAX);
	pid_path(pid, "", path, sizeof(path));
	(void)mkdir(path, 0755);
	pid_path(pid, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	assert_int_equal(close(fd), 0);
}

void rig_uid(uint32_t pid, uint32_t uid)
{
	char text[256];
	int len = snprintf(
		text, sizeof(text),
		"Name:\tUid:\\n\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t%u\t%u\t%u\t%u\n", uid,
		uid, uid, uid);

	write_file(pid, "/status", text, (size_t)len);
}

void rig_exe(uint32_t pid, const char *target)
{
	char path[128];

	pid_path(pid, "/exe", path, sizeof(path));
	(void)unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

void rig_ppid(uint32_t pid, uint32_t ppid, const char *comm, uint64_t start_s)
{
	uint64_t ticks = start_s * (uint64_t)sysconf(_SC_CLK_TCK);
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "%u (%s) S %u 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 1 0 %lu 1 1 "
			   "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			   pid, comm, ppid, ticks);

	write_file(pid, "/stat", text, (size_t)len);
}

void rig_process(uint32_t pid, const char *comm, uint64_t start_s, const char *cgroup)
{
	rig_ppid(pid, 1, comm, start_s);
	write_file(pid, "/cgroup", cgroup, strlen(cgroup));
	rig_uid(pid, 0);
}

void rig_cmdline(uint32_t pid, const char *words)
{
	size_t len = strlen(words);
	char *text = malloc(len + 1);

	assert_non_null(text);
	for (size_t i = 0; i < len; i++)
		text[i] = words[i] == '|' ? '\0' : words[i];
	write_file(pid, "/cmdline", text, len);
	free(text);
}
