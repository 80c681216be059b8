// SPDX-License-Identifier: Apache-2.0
#include "truth/vm_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

#define COMMAND_MAX (128UL * 1024)
#define UTIME       14 /* field of /proc/PID/stat; the next one is stime */

static bool is_hypervisor(const char *comm)
{
	/* As the kernel cuts them. */
	static const char *const names[] = { "qemu-kvm", "kvm", "cloud-hyperviso", "firecracker" };

	if (strncmp(comm, "qemu-system-", 12) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return false;
}

/* "guest=web,debug-threads=on" is web. */
static void take_name(const char *value, char *ret, size_t size)
{
	if (strncmp(value, "guest=", 6) == 0)
		value += 6;
	(void)snprintf(ret, size, "%.*s", (int)strcspn(value, ","), value);
}

static void take_words(const char *text, size_t len, struct vm_process *ret)
{
	const char *end = text + len, *word = text;

	while (word < end) {
		const char *value = word + strlen(word) + 1;

		if (value >= end)
			return;
		if (strcmp(word, "-uuid") == 0 || strcmp(word, "--uuid") == 0)
			(void)snprintf(ret->uuid, sizeof(ret->uuid), "%s", value);
		else if (strcmp(word, "-name") == 0 || strcmp(word, "--id") == 0)
			take_name(value, ret->name, sizeof(ret->name));
		word = value;
	}
}

/* False: the process is not a virtual machine. */
static bool read_process(const char *procfs, const char *pid, struct vm_process *ret)
{
	char path[512], comm[32];
	char *text = NULL;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/%s/comm", procfs, pid);
	if (read_file_at(AT_FDCWD, path, comm, sizeof(comm)) <= 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	(void)snprintf(path, sizeof(path), "%s/%s/cmdline", procfs, pid);
	if (!is_hypervisor(comm) || read_file_alloc(path, COMMAND_MAX, &text, &len) < 0)
		return false;
	*ret = (struct vm_process){ .pid = (pid_t)strtol(pid, NULL, 10) };
	take_words(text, len, ret);
	free(text);
	return true;
}

static bool is_wanted(const struct vm_process *vm, const char *pid, const char *wanted)
{
	return strcmp(wanted, "auto") == 0 || strcmp(wanted, pid) == 0 ||
	       strcasecmp(wanted, vm->uuid) == 0 || strcmp(wanted, vm->name) == 0;
}

static void cleanup_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

int vm_process_find(const char *procfs, const char *wanted, struct vm_process *ret,
		    struct diag *diag)
{
	CLEANUP(cleanup_dir) DIR *folder = opendir(procfs);
	struct vm_process vm;
	size_t count = 0;

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_process(procfs, entry->d_name, &vm) &&
		    is_wanted(&vm, entry->d_name, wanted) && count++ == 0)
			*ret = vm;
	if (count == 0)
		return diag_set(diag, -ENOENT,
				"vm: no process of QEMU, Cloud Hypervisor or Firecracker has the "
				"UUID, name or pid \"%s\"",
				wanted);
	if (count > 1)
		return diag_set(diag, -EEXIST,
				"vm: %zu virtual machines are \"%s\"; give the UUID or pid of one",
				count, wanted);
	return 0;
}

double vm_process_cpu_s(const char *procfs, const struct vm_process *vm)
{
	char path[512], text[1024];

	(void)snprintf(path, sizeof(path), "%s/%d/stat", procfs, vm->pid);
	if (read_file_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	/* The command in parentheses may contain any character: proc_pid_stat(5). */
	const char *at = strrchr(text, ')');
	for (int field = 2; field < UTIME && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	char *end;
	unsigned long long user = strtoull(at, &end, 10), system = strtoull(end, NULL, 10);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}
