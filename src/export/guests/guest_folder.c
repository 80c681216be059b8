// SPDX-License-Identifier: Apache-2.0
/*
 * A guest may be able to write to its directory, as virtiofs usually permits: no link in it is
 * followed, and nothing in it is read. Files are not synced: after a crash of the host they are
 * outdated anyway.
 */
#include "export/guests/guest_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "passthrough/passthrough_text.h"

#define NEW_NAME    ".new"
#define FOLDER_MODE 0750
#define FILE_MODE   0640
#define RAPL_NAME   "intel-rapl:%u"

/* Kinds that powercap has, and what the kernel calls their zones. */
static const struct rapl_kind {
	enum zone_kind kind;
	const char *name;
	unsigned top; /* the number of its zone at the top; the others are parts of 0 */
	bool is_part;
} rapl_kinds[] = {
	{ ZONE_PACKAGE, "package-0", 0, false }, { ZONE_CORE, "core", 0, true },
	{ ZONE_UNCORE, "uncore", 0, true },      { ZONE_DRAM, "dram", 0, true },
	{ ZONE_PSYS, "psys", 1, false },
};

/* Modes do not depend on the umask. Without the right to, a file keeps this program's group. */
static void set_access(int fd, mode_t mode, gid_t group)
{
	if (group != (gid_t)-1)
		(void)!fchown(fd, (uid_t)-1, group);
	(void)fchmod(fd, mode);
}

static int replace(int folder_fd, const char *name, const char *text, size_t len, gid_t group)
{
	CLEANUP_FD int fd = -1;
	ssize_t written;

	(void)unlinkat(folder_fd, NEW_NAME, 0);
	fd = openat(folder_fd, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    FILE_MODE);
	if (fd < 0)
		return -errno;
	set_access(fd, FILE_MODE, group);
	written = write(fd, text, len);
	if (written != (ssize_t)len)
		return written < 0 ? -errno : -ENOSPC;
	return renameat(folder_fd, NEW_NAME, folder_fd, name) < 0 ? -errno : 0;
}

/* A descriptor, or -errno. */
static int open_folder(int parent_fd, const char *name, gid_t group)
{
	bool is_new = mkdirat(parent_fd, name, FOLDER_MODE) == 0;
	int fd;

	if (!is_new && errno != EEXIST)
		return -errno;
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (is_new)
		set_access(fd, FOLDER_MODE, group);
	return fd;
}

static int write_number(int folder_fd, const char *name, uint64_t value, gid_t group)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);

	return replace(folder_fd, name, text, (size_t)len, group);
}

static int write_zone(int parent_fd, const char *name, const char *kind, uint64_t energy_uj,
		      bool is_first, gid_t group)
{
	CLEANUP_FD int fd = open_folder(parent_fd, name, group);
	char text[24];
	int r;

	if (fd < 0)
		return fd;
	r = write_number(fd, "energy_uj", energy_uj, group);
	if (r < 0 || !is_first)
		return r;
	(void)snprintf(text, sizeof(text), "%s\n", kind);
	r = replace(fd, "name", text, strlen(text), group);
	return r < 0 ? r : write_number(fd, "max_energy_range_uj", INT64_MAX, group);
}

/* Estimates are left out of a form that cannot mark them. */
static const struct passthrough_zone *find_measured(const struct passthrough_record *record,
						    enum zone_kind kind)
{
	for (size_t i = 0; i < record->zone_count; i++) {
		const struct passthrough_zone *zone = &record->zones[i];

		if (zone->kind == kind && zone->quality == QUALITY_MEASURED)
			return zone;
	}
	return NULL;
}

static int write_powercap(int folder_fd, const struct passthrough_record *record, gid_t group)
{
	unsigned parts = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rapl_kinds); i++) {
		const struct rapl_kind *kind = &rapl_kinds[i];
		const struct passthrough_zone *zone = find_measured(record, kind->kind);
		char name[32];

		if (!zone)
			continue;
		if (kind->is_part)
			(void)snprintf(name, sizeof(name), RAPL_NAME ":%u", kind->top, parts++);
		else
			(void)snprintf(name, sizeof(name), RAPL_NAME, kind->top);
		r = write_zone(folder_fd, name, kind->name, zone->dynamic_uj + zone->idle_uj,
			       record->sequence == 1, group);
	}
	return r;
}

static int write_all(const struct guest_folder *self, const struct guest *guest,
		     const struct passthrough_record *record)
{
	gid_t group = guest->process.pid ? guest->process.gid : (gid_t)-1;
	CLEANUP_FD int top_fd = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	if (top_fd < 0)
		return -errno;
	fd = open_folder(top_fd, guest->key, group);
	if (fd < 0)
		return fd;
	passthrough_text_write(record, &text);
	r = strbuf_error(&text);
	if (r == 0)
		r = replace(fd, "energy", text.data, text.len, group);
	return r < 0 ? r : write_powercap(fd, record, group);
}

void guest_folder_write(struct guest_folder *self, const struct guest *guest,
			const struct passthrough_record *record)
{
	int r = guest->key[0] ? write_all(self, guest, record) : 0;

	if (r == 0) {
		guest_count(&self->counts.records, guest->key[0] != '\0');
		return;
	}
	guest_count(&self->counts.errors, 1);
	if (guest_errors_have(&self->told, r))
		return;
	log_warn("passthrough.dir: cannot write to %s/%s: %s", self->folder, guest->key,
		 strerrordesc_np(-r));
}

static void remove_zone(int folder_fd, const char *name)
{
	static const char *const files[] = { "energy_uj", "name", "max_energy_range_uj", NEW_NAME };
	CLEANUP_FD int fd =
		openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(files); i++)
		(void)unlinkat(fd, files[i], 0);
	(void)unlinkat(folder_fd, name, AT_REMOVEDIR);
}

/* A directory that has anything else in it stays. */
void guest_folder_end(const struct guest_folder *self, const struct guest *guest)
{
	CLEANUP_FD int top_fd = -1, fd = -1;
	char name[32];

	if (!self->folder[0] || !guest->key[0])
		return;
	top_fd = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top_fd < 0)
		return;
	fd = openat(top_fd, guest->key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)unlinkat(fd, "energy", 0);
	(void)unlinkat(fd, NEW_NAME, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rapl_kinds); i++) {
		(void)snprintf(name, sizeof(name), RAPL_NAME, i);
		remove_zone(fd, name);
		(void)snprintf(name, sizeof(name), RAPL_NAME ":%u", 0U, i);
		remove_zone(fd, name);
	}
	(void)unlinkat(top_fd, guest->key, AT_REMOVEDIR);
}
