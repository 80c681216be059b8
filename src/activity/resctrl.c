// SPDX-License-Identifier: Apache-2.0
/*
 * A group is known by its path and by the inode of its directory: one that was removed and made
 * again has another counter. A scan makes a new list and takes over the readings of groups that are
 * the same.
 */
#include "activity/resctrl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define PATH_BYTES  512
#define TASKS_BYTES (1U << 20)

struct group {
	char path[PATH_BYTES]; /* below the root; "" of the default group */
	uint64_t inode;
	uint32_t parent; /* its control group; of a control group itself */
	uint32_t first_pid, pid_count;
	uint64_t last[RESCTRL_DOMAINS_MAX];
	uint64_t all_bytes; /* since the reading before, including the groups below it */
	bool has_last;
};

struct resctrl {
	char root[PATH_BYTES];
	unsigned domains[RESCTRL_DOMAINS_MAX];
	uint32_t domain_count;
	struct group *groups, *before;
	uint32_t group_count, group_size, before_count, before_size;
	uint32_t *pids;
	uint32_t pid_count, pid_size;
	struct resctrl_group shown[RESCTRL_GROUPS_MAX];
	uint32_t scans;
	bool is_known;
};

int resctrl_open(const char *sysfs, struct resctrl **ret)
{
	struct resctrl *resctrl = calloc(1, sizeof(*resctrl));

	if (!resctrl)
		return -ENOMEM;
	if (path_join(resctrl->root, sizeof(resctrl->root), sysfs, "fs/resctrl") < 0)
		resctrl->root[0] = '\0';
	*ret = resctrl;
	return 0;
}

void resctrl_close(struct resctrl *resctrl)
{
	if (!resctrl)
		return;
	free(resctrl->groups);
	free(resctrl->before);
	free(resctrl->pids);
	free(resctrl);
}

/* ---- what there is ---- */

size_t resctrl_parse_tasks(const char *text, uint32_t *ret_pids, size_t max)
{
	size_t count = 0;

	while (*text && count < max) {
		size_t len = strcspn(text, "\n");
		uint64_t pid;

		/* 0 is a task of another pid namespace. */
		if (parse_u64(text, len, &pid) == 0 && pid && pid <= UINT32_MAX)
			ret_pids[count++] = (uint32_t)pid;
		text += len;
		text += *text == '\n';
	}
	return count;
}

/* 0 or -ENOMEM. */
static int read_tasks(struct resctrl *resctrl, struct group *group, char *text)
{
	char path[2 * PATH_BYTES + 16];
	ssize_t len;

	group->first_pid = resctrl->pid_count;
	(void)snprintf(path, sizeof(path), "%s/%s/tasks", resctrl->root, group->path);
	len = read_file_nowait_at(AT_FDCWD, path, text, TASKS_BYTES);
	/* The first part of a list that is too long is there. */
	if (len <= 0 && len != -EFBIG)
		return 0;
	if (ARRAY_RESERVE(resctrl->pids, resctrl->pid_size, RESCTRL_PIDS_MAX) < 0)
		return -ENOMEM;
	group->pid_count = (uint32_t)resctrl_parse_tasks(text, resctrl->pids + group->first_pid,
							 RESCTRL_PIDS_MAX - group->first_pid);
	resctrl->pid_count += group->pid_count;
	return 0;
}

static void take_over(const struct resctrl *resctrl, struct group *group)
{
	for (uint32_t i = 0; i < resctrl->before_count; i++) {
		const struct group *before = &resctrl->before[i];

		if (before->inode != group->inode || strcmp(before->path, group->path) != 0)
			continue;
		memcpy(group->last, before->last, sizeof(group->last));
		group->has_last = before->has_last;
	}
}

/* Adds the group at @path; @parent: UINT32_MAX of a control group. 0 or -ENOMEM. */
static int add_group(struct resctrl *resctrl, const char *path, uint32_t parent, char *text)
{
	uint32_t index = resctrl->group_count;
	struct group group = { .parent = parent == UINT32_MAX ? index : parent };
	char full[2 * PATH_BYTES];
	struct stat status;
	int r = 0;

	(void)snprintf(full, sizeof(full), "%s/%s/mon_data", resctrl->root, path);
	if (index == RESCTRL_GROUPS_MAX || stat(full, &status) < 0)
		return 0;
	group.inode = status.st_ino;
	(void)snprintf(group.path, sizeof(group.path), "%s", path);
	if (ARRAY_RESERVE(resctrl->groups, resctrl->group_size, index + 1U) < 0)
		return -ENOMEM;
	if (index)
		r = read_tasks(resctrl, &group, text);
	take_over(resctrl, &group);
	resctrl->groups[index] = group;
	resctrl->group_count += r == 0;
	return r;
}

typedef int entry_fn(struct resctrl *resctrl, const char *path, uint32_t parent, char *text);

/* Calls @fn with the path of each directory below @dir that may be a group. */
static int visit(struct resctrl *resctrl, const char *dir, uint32_t parent, entry_fn *fn,
		 char *text)
{
	char path[2 * PATH_BYTES + 16];
	const struct dirent *entry;
	DIR *listing;
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", resctrl->root, dir);
	listing = opendir(path);
	while (listing && r == 0 && (entry = readdir(listing))) {
		const char *name = entry->d_name;
		int len;

		if (name[0] == '.' || strcmp(name, "info") == 0 ||
		    strcmp(name, "mon_groups") == 0 || strcmp(name, "mon_data") == 0)
			continue;
		len = snprintf(path, PATH_BYTES, "%s%s%s", dir, dir[0] ? "/" : "", name);
		if (len > 0 && len < PATH_BYTES)
			r = fn(resctrl, path, parent, text);
	}
	if (listing)
		(void)closedir(listing);
	return r;
}

/* With its monitoring groups. */
static int add_control_group(struct resctrl *resctrl, const char *path, uint32_t parent, char *text)
{
	uint32_t index = resctrl->group_count;
	char below[PATH_BYTES + 16];
	int r = add_group(resctrl, path, parent, text);

	if (r < 0 || resctrl->group_count == index)
		return r; /* a file, or a group without monitoring */
	(void)snprintf(below, sizeof(below), "%s%smon_groups", path, path[0] ? "/" : "");
	return visit(resctrl, below, index, add_group, text);
}

static void find_domains(struct resctrl *resctrl)
{
	char path[PATH_BYTES + 16];
	const struct dirent *entry;
	DIR *listing;

	resctrl->domain_count = 0;
	(void)snprintf(path, sizeof(path), "%s/mon_data", resctrl->root);
	listing = opendir(path);
	while (listing && resctrl->domain_count < RESCTRL_DOMAINS_MAX &&
	       (entry = readdir(listing))) {
		const char *number = entry->d_name + strlen("mon_L3_");
		uint64_t domain;

		if (strncmp(entry->d_name, "mon_L3_", strlen("mon_L3_")) == 0 &&
		    parse_u64(number, strlen(number), &domain) == 0 && domain < 10000)
			resctrl->domains[resctrl->domain_count++] = (unsigned)domain;
	}
	if (listing)
		(void)closedir(listing);
}

static int compare_domains(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

/* Domains come and go with CPUs: then all groups begin again. */
static void follow_domains(struct resctrl *resctrl)
{
	unsigned before[RESCTRL_DOMAINS_MAX];
	uint32_t count = resctrl->domain_count;

	memcpy(before, resctrl->domains, sizeof(before));
	find_domains(resctrl);
	qsort(resctrl->domains, resctrl->domain_count, sizeof(*resctrl->domains), compare_domains);
	if (count != resctrl->domain_count ||
	    memcmp(before, resctrl->domains, count * sizeof(*before)) != 0)
		resctrl->before_count = 0;
}

int resctrl_scan(struct resctrl *resctrl)
{
	struct group *groups = resctrl->before;
	uint32_t size = resctrl->before_size;
	CLEANUP_FREE char *text = NULL;
	int r;

	resctrl->before = resctrl->groups;
	resctrl->before_size = resctrl->group_size;
	resctrl->before_count = resctrl->group_count;
	resctrl->groups = groups;
	resctrl->group_size = size;
	resctrl->group_count = resctrl->pid_count = 0;
	resctrl->is_known = false;
	resctrl->scans++;
	follow_domains(resctrl);
	if (!resctrl->domain_count)
		return 0;
	text = malloc(TASKS_BYTES);
	r = text ? add_control_group(resctrl, "", UINT32_MAX, text) : -ENOMEM;
	if (r == 0 && resctrl->group_count)
		r = visit(resctrl, "", UINT32_MAX, add_control_group, text);
	if (r < 0)
		resctrl->group_count = 0;
	return r;
}

/* ---- counters ---- */

int resctrl_parse_bytes(const char *text, size_t len, uint64_t *ret)
{
	return parse_u64(text, len, ret) < 0 ? -ENODATA : 0;
}

static bool read_counter(const struct resctrl *resctrl, const struct group *group, unsigned domain,
			 uint64_t *ret)
{
	char path[2 * PATH_BYTES + 64], text[64];
	ssize_t len;

	(void)snprintf(path, sizeof(path), "%s/%s/mon_data/mon_L3_%02u/mbm_total_bytes",
		       resctrl->root, group->path, domain);
	len = read_file_nowait_at(AT_FDCWD, path, text, sizeof(text));
	return len > 0 && resctrl_parse_bytes(text, (size_t)len, ret) == 0;
}

/* Returns true if all traffic of the group since the reading before is known. */
static bool read_group(const struct resctrl *resctrl, struct group *group)
{
	bool is_known = group->has_last;
	uint64_t now[RESCTRL_DOMAINS_MAX];

	group->all_bytes = 0;
	for (uint32_t i = 0; i < resctrl->domain_count; i++) {
		/* Without one of them the next reading has the whole time. */
		if (!read_counter(resctrl, group, resctrl->domains[i], &now[i]))
			return false;
	}
	for (uint32_t i = 0; i < resctrl->domain_count; i++) {
		is_known &= now[i] >= group->last[i];
		group->all_bytes += now[i] - group->last[i];
		group->last[i] = now[i];
	}
	group->has_last = true;
	return is_known;
}

/* Counters are read one after the other, so the groups of a control group may have more than it. */
static void show_own_bytes(struct resctrl *resctrl)
{
	for (uint32_t i = 0; i < resctrl->group_count; i++) {
		const struct group *group = &resctrl->groups[i];

		resctrl->shown[i] = (struct resctrl_group){ group->all_bytes, group->first_pid,
							    group->pid_count };
	}
	for (uint32_t i = 0; i < resctrl->group_count; i++) {
		uint64_t bytes = resctrl->groups[i].all_bytes;
		struct resctrl_group *parent = &resctrl->shown[resctrl->groups[i].parent];

		if (resctrl->groups[i].parent != i)
			parent->bytes -= parent->bytes < bytes ? parent->bytes : bytes;
	}
}

bool resctrl_read(struct resctrl *resctrl)
{
	resctrl->is_known = resctrl->group_count != 0;
	for (uint32_t i = 0; resctrl->pid_count && i < resctrl->group_count; i++)
		resctrl->is_known &= read_group(resctrl, &resctrl->groups[i]);
	show_own_bytes(resctrl);
	return resctrl->pid_count != 0;
}

struct resctrl_reading resctrl_get(const struct resctrl *resctrl)
{
	return (struct resctrl_reading){
		.groups = resctrl->shown,
		.group_count = resctrl->group_count,
		.pids = resctrl->pids,
		.pid_count = resctrl->pid_count,
		.scans = resctrl->scans,
		.is_known = resctrl->is_known && resctrl->pid_count,
	};
}
