// SPDX-License-Identifier: Apache-2.0
/*
 * The name of each process is read first: only those with a hypervisor's name cost more than that.
 * The start time is read before and after the command line, which so belongs to that process.
 */
#include "export/guests/guest_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/proc.h"
#include "workload/cgroup/cgroup_path.h"
#include "workload/vm_cmdline.h"

/* The limit for a command line; libvirt's for a machine with many devices has a tenth of it. */
#define TEXT_MAX (128 * 1024)

_Static_assert(sizeof(((struct guest_process *)NULL)->uuid) == VM_UUID_MAX, "as parsed");

static int read_user(int proc_fd, struct guest_process *process)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%u", process->pid);
	if (fstatat(proc_fd, path, &st, 0) < 0)
		return -errno;
	process->gid = st.st_gid;
	return proc_read_uid(proc_fd, process->pid, &process->uid);
}

/* Its cgroup is the kernel's account, so a process cannot choose the container. */
static void read_container(int proc_fd, struct guest_process *process, char *text)
{
	struct cgroup_owner owner;

	if (proc_read_text(proc_fd, process->pid, "cgroup", text, TEXT_MAX) <= 0)
		return;
	cgroup_owner_from_proc(text, &owner);
	if (owner.kind == OWNER_CONTAINER)
		memcpy(process->container, owner.id, sizeof(process->container));
}

/* false: not a virtual machine, or gone. */
static bool read_process(int proc_fd, uint32_t pid, char *text, struct guest_process *ret)
{
	char comm[COMM_MAX + 1];
	struct proc_stat stat;
	struct vm_description vm;
	ssize_t len = proc_read_text(proc_fd, pid, "comm", comm, sizeof(comm));

	if (len <= 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	if (!vm_comm_is_candidate(comm) || proc_read_stat(proc_fd, pid, &stat) < 0)
		return false;
	*ret = (struct guest_process){ .pid = pid, .start_ns = proc_start_ns(&stat) };
	len = proc_read_text(proc_fd, pid, "cmdline", text, TEXT_MAX);
	if (len <= 0 || !vm_cmdline_parse(comm, text, (size_t)len, &vm) ||
	    read_user(proc_fd, ret) < 0)
		return false;
	memcpy(ret->uuid, vm.uuid, sizeof(ret->uuid));
	ret->vsock_cid = vm.vsock_cid;
	read_container(proc_fd, ret, text);
	return guest_process_lives(proc_fd, ret);
}

bool guest_process_lives(int proc_fd, const struct guest_process *process)
{
	struct proc_stat stat;

	return process->pid && proc_read_stat(proc_fd, process->pid, &stat) == 0 &&
	       proc_is_same_start(proc_start_ns(&stat), process->start_ns);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

ssize_t guest_processes_scan(int proc_fd, struct guest_process **ret)
{
	CLEANUP(close_folder) DIR *folder = NULL;
	CLEANUP_FREE struct guest_process *list = NULL;
	CLEANUP_FREE char *text = malloc(TEXT_MAX);
	int fd = text ? openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	size_t count = 0, size = 0;
	struct guest_process found;
	const struct dirent *entry;
	uint64_t pid;

	if (fd < 0 || !text)
		return text ? -errno : -ENOMEM;
	folder = fdopendir(fd);
	if (!folder) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	while (count < GUEST_PROCESSES_MAX && (entry = readdir(folder))) {
		if (parse_u64(entry->d_name, strlen(entry->d_name), &pid) < 0 || pid > INT32_MAX ||
		    !read_process(proc_fd, (uint32_t)pid, text, &found))
			continue;
		if (ARRAY_RESERVE(list, size, count + 1) < 0)
			return -ENOMEM;
		list[count++] = found;
	}
	*ret = TAKE_PTR(list);
	return (ssize_t)count;
}
