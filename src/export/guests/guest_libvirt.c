// SPDX-License-Identifier: Apache-2.0
/*
 * The directory's time says whether a file was replaced. Two changes may have the same time, so a
 * directory that changed a moment before it was read is read again.
 */
#include "export/guests/guest_libvirt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"

#define SETTLED_S 2 /* coarser than any file system's clock */

void guest_libvirt_release(struct guest_libvirt *libvirt)
{
	for (size_t i = 0; i < libvirt->count; i++)
		free(libvirt->domains[i].name);
	free(libvirt->domains);
	libvirt->domains = NULL;
	libvirt->count = libvirt->size = 0;
}

static bool is_same_time(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

/* Once for each kind of error: it mostly concerns all files alike. */
static void note_error(struct guest_libvirt *libvirt, int error, const char *name, const char *why)
{
	(void)__atomic_add_fetch(&libvirt->errors, 1, __ATOMIC_RELAXED);
	if (error == libvirt->told)
		return;
	libvirt->told = error;
	log_warn("passthrough.libvirt: %s/%s: %s%s", libvirt->folder, name, why,
		 error == -EACCES ? "; libvirt lets only its own user read it, root" : "");
}

static bool is_machine_file(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && name[0] != '.' && strcmp(name + len - 4, ".xml") == 0;
}

static struct guest_domain *find(const struct guest_libvirt *libvirt, const char *name)
{
	for (size_t i = 0; i < libvirt->count; i++) {
		if (strcmp(libvirt->domains[i].name, name) == 0)
			return &libvirt->domains[i];
	}
	return NULL;
}

static struct guest_domain *add(struct guest_libvirt *libvirt, const char *name)
{
	struct guest_domain domain = { .name = NULL };

	if (libvirt->count == GUEST_PROCESSES_MAX ||
	    ARRAY_RESERVE(libvirt->domains, libvirt->size, libvirt->count + 1) < 0)
		return NULL;
	domain.name = strdup(name);
	if (!domain.name)
		return NULL;
	libvirt->domains[libvirt->count] = domain;
	return &libvirt->domains[libvirt->count++];
}

/* The owner of a file in this directory is libvirt's: no other can put one there. */
static void read_domain(struct guest_libvirt *libvirt, int folder_fd, struct guest_domain *domain,
			char *text)
{
	ssize_t len = read_file_nowait_at(folder_fd, domain->name, text, VM_LIBVIRT_BYTES_MAX);
	struct diag diag = { "" };

	domain->vm = (struct vm_libvirt){ 0 };
	if (len == -ENOENT)
		return;
	if (len < 0) {
		note_error(libvirt, (int)len, domain->name, strerrordesc_np((int)-len));
		domain->inode = 0; /* the same file is read again at the next look */
		libvirt->has_failed = true;
	} else if (vm_libvirt_parse(text, (size_t)len, &domain->vm, &diag) < 0) {
		note_error(libvirt, -EINVAL, domain->name, diag.text);
	}
}

/* True: its file is new, or was replaced. */
static bool take_file(struct guest_libvirt *libvirt, int folder_fd, const char *name, char *text)
{
	struct guest_domain *domain;
	struct stat st;

	if (!is_machine_file(name) || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	domain = find(libvirt, name);
	if (domain && domain->inode == st.st_ino && is_same_time(&domain->changed, &st.st_ctim)) {
		domain->is_listed = true;
		return false;
	}
	if (!domain)
		domain = add(libvirt, name);
	if (!domain)
		return false;
	domain->inode = st.st_ino;
	domain->changed = st.st_ctim;
	domain->is_listed = true;
	read_domain(libvirt, folder_fd, domain, text);
	return true;
}

static bool drop_unlisted(struct guest_libvirt *libvirt)
{
	size_t kept = 0, before = libvirt->count;
	uint64_t known = 0;

	for (size_t i = 0; i < before; i++) {
		struct guest_domain domain = libvirt->domains[i];

		if (!domain.is_listed) {
			free(domain.name);
			continue;
		}
		domain.is_listed = false;
		known += domain.vm.pid != 0;
		libvirt->domains[kept++] = domain;
	}
	libvirt->count = kept;
	__atomic_store_n(&libvirt->known, known, __ATOMIC_RELAXED);
	return kept != before;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

static bool read_folder(struct guest_libvirt *libvirt, DIR *folder)
{
	CLEANUP_FREE char *text = malloc(VM_LIBVIRT_BYTES_MAX);
	const struct dirent *entry;
	bool has_changed = false;

	if (!text)
		return false;
	while ((entry = readdir(folder)))
		has_changed |= take_file(libvirt, dirfd(folder), entry->d_name, text);
	return drop_unlisted(libvirt) || has_changed;
}

bool guest_libvirt_look(struct guest_libvirt *libvirt, const struct timespec *now)
{
	CLEANUP(close_folder) DIR *folder = NULL;
	struct stat st;

	if (!libvirt->folder[0])
		return false;
	if (stat(libvirt->folder, &st) == 0) {
		if (is_same_time(&libvirt->changed, &st.st_mtim))
			return false;
		folder = opendir(libvirt->folder);
	}
	if (!folder) {
		/* Without libvirt, as before its first start, there are no machines of its own. */
		if (errno != ENOENT)
			note_error(libvirt, -errno, "", strerrordesc_np(errno));
		libvirt->changed = (struct timespec){ 0 };
		return drop_unlisted(libvirt);
	}
	libvirt->changed =
		now->tv_sec - st.st_mtim.tv_sec >= SETTLED_S ? st.st_mtim : (struct timespec){ 0 };
	libvirt->has_failed = false;
	bool has_changed = read_folder(libvirt, folder);
	/* Neither a chmod of a file nor a free descriptor changes the folder's time. */
	if (libvirt->has_failed)
		libvirt->changed = (struct timespec){ 0 };
	return has_changed;
}

static const struct vm_libvirt *find_process(const struct guest_libvirt *libvirt,
					     const struct guest_process *process)
{
	for (size_t i = 0; i < libvirt->count; i++) {
		const struct vm_libvirt *vm = &libvirt->domains[i].vm;

		if (vm->pid && vm->pid == process->pid && strcmp(vm->uuid, process->uuid) == 0)
			return vm;
	}
	return NULL;
}

void guest_libvirt_complete(const struct guest_libvirt *libvirt, struct guest_process *processes,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct guest_process *process = &processes[i];
		const struct vm_libvirt *vm = find_process(libvirt, process);

		if (!vm)
			continue;
		process->vsock_cid = vm->vsock_cid;
		process->is_known_to_libvirt = true;
		memcpy(process->energy_socket, vm->energy_socket, sizeof(vm->energy_socket));
		memcpy(process->vhostmd_socket, vm->vhostmd_socket, sizeof(vm->vhostmd_socket));
	}
}
