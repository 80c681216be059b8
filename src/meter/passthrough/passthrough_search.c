// SPDX-License-Identifier: Apache-2.0
#include "meter/passthrough/passthrough_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"

#define VHOSTMD_PORT   "org.github.vhostmd.1"
#define PORTS_FOLDER   "class/virtio-ports"
#define PORT_NAME_FILE 64
#define DEVICES_FOLDER "bus/virtio/devices"
#define ENTRIES_MAX    512  /* of a folder of sysfs */
#define VSOCK_DEVICE   0x13 /* OASIS: Virtual I/O Device 1.2, section 5 */
#define MOUNTS_MAX     (1U << 20)
#define TAG            "kepler"
#define SCAPHANDRE_TAG "scaphandre"

static bool has_port_name(int folder_fd, const char *entry, const char *port_name)
{
	char path[PATH_MAX], name[PORT_NAME_FILE];
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/name", entry) >= (int)sizeof(path))
		return false;
	len = read_file_at(folder_fd, path, name, sizeof(name));
	if (len > 0 && name[len - 1] == '\n')
		len--;
	return len == (ssize_t)strlen(port_name) && memcmp(name, port_name, (size_t)len) == 0;
}

/* The device of the virtio-serial port with that name, or "". */
static void find_port(const char *sysfs, const char *name, char ret[static PASSTHROUGH_PATH_MAX])
{
	const struct dirent *entry;
	char folder[PATH_MAX];
	size_t seen = 0;
	DIR *dir = NULL;

	ret[0] = '\0';
	if (path_join(folder, sizeof(folder), sysfs, PORTS_FOLDER) == 0)
		dir = opendir(folder);
	if (!dir)
		return;
	while (!ret[0] && seen++ < ENTRIES_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && has_port_name(dirfd(dir), entry->d_name, name))
			(void)path_join(ret, PASSTHROUGH_PATH_MAX, "/dev", entry->d_name);
	}
	(void)closedir(dir);
}

static bool is_vsock(int folder_fd, const char *entry)
{
	char path[PATH_MAX], text[16];

	return snprintf(path, sizeof(path), "%s/device", entry) < (int)sizeof(path) &&
	       read_file_at(folder_fd, path, text, sizeof(text)) > 0 &&
	       strtoul(text, NULL, 16) == VSOCK_DEVICE;
}

static bool has_vsock(const char *sysfs)
{
	const struct dirent *entry;
	char folder[PATH_MAX];
	bool has_one = false;
	size_t seen = 0;
	DIR *dir = NULL;

	if (path_join(folder, sizeof(folder), sysfs, DEVICES_FOLDER) == 0)
		dir = opendir(folder);
	if (!dir)
		return false;
	while (!has_one && seen++ < ENTRIES_MAX && (entry = readdir(dir)))
		has_one = entry->d_name[0] != '.' && is_vsock(dirfd(dir), entry->d_name);
	(void)closedir(dir);
	return has_one;
}

/* A line of proc_pid_mounts(5): tag, directory, type. */
static bool is_shared(const char *type)
{
	return strcmp(type, "virtiofs") == 0 || strcmp(type, "9p") == 0;
}

static bool is_hosts(const char *tag, const char *folder)
{
	size_t len = strlen(TAG);

	return strcmp(folder, PASSTHROUGH_FOLDER) == 0 ||
	       (strncmp(tag, TAG, len) == 0 && (!tag[len] || tag[len] == '-'));
}

static bool is_scaphandres(const char *tag, const char *folder)
{
	return strcmp(folder, PASSTHROUGH_SCAPHANDRE) == 0 || strcmp(tag, SCAPHANDRE_TAG) == 0;
}

/* A directory with a space or a backslash in its name, which is escaped, is not found. */
static void find_folders(const char *procfs, struct passthrough_places *ret)
{
	CLEANUP_FREE char *text = NULL;
	char path[PATH_MAX], *line, *rest, *state;
	size_t len;

	if (path_join(path, sizeof(path), procfs, "self/mounts") < 0 ||
	    read_file_alloc(path, MOUNTS_MAX, &text, &len) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		const char *tag = strtok_r(line, " ", &state);
		const char *folder = tag ? strtok_r(NULL, " ", &state) : NULL;
		const char *type = folder ? strtok_r(NULL, " ", &state) : NULL;

		if (!type || !is_shared(type) || strchr(folder, '\\') ||
		    strlen(folder) >= PASSTHROUGH_PATH_MAX)
			continue;
		if (!ret->folder[0] && is_hosts(tag, folder))
			(void)snprintf(ret->folder, sizeof(ret->folder), "%s", folder);
		else if (!ret->scaphandre[0] && is_scaphandres(tag, folder))
			(void)snprintf(ret->scaphandre, sizeof(ret->scaphandre), "%s", folder);
	}
}

const char *passthrough_best_place(const struct passthrough_places *places)
{
	if (places->port[0])
		return places->port;
	return places->folder[0] ? places->folder : places->vhostmd;
}

void passthrough_search(const char *procfs, const char *sysfs, struct passthrough_places *ret)
{
	*ret = (struct passthrough_places){ .has_vsock = sysfs && has_vsock(sysfs) };
	if (sysfs) {
		find_port(sysfs, PASSTHROUGH_PORT_NAME, ret->port);
		find_port(sysfs, VHOSTMD_PORT, ret->vhostmd);
	}
	if (procfs)
		find_folders(procfs, ret);
}
