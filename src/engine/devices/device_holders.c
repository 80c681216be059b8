// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_holders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/open_device_finder.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/pid_namespace.h"
#include "service/fdinfo_helper.h"
#include "service/needs.h"

#define CGROUP_MAX 4096 /* of /proc/PID/cgroup */

static const uint32_t majors[] = { 226 }; /* DRM (Linux: Documentation/admin-guide/devices.txt) */

struct device_holders {
	struct device_files files; /* first */
	struct fdinfo_helper *helper;
	struct open_device_finder *finder; /* NULL: /proc is searched */
	char *procfs;
	atomic_uint refs;
};

static struct device_holders *holders_of(struct device_files *files)
{
	return (struct device_holders *)files;
}

/* A pass that BPF cannot make is made in /proc. */
static int search(struct device_files *files, struct open_device *list, size_t max,
		  struct open_devices *ret)
{
	struct device_holders *holders = holders_of(files);

	if (holders->finder && open_device_finder_search(holders->finder, list, max, ret) == 0)
		return 0;
	return fdinfo_helper_search(holders->helper, list, max, ret);
}

static int open_fdinfo(struct device_files *files, uint32_t pid, uint32_t fd)
{
	return fdinfo_helper_open(holders_of(files)->helper, pid, fd);
}

static uint64_t group(struct device_files *files, uint32_t pid)
{
	char path[PATH_MAX], text[CGROUP_MAX];
	ssize_t len;

	if ((size_t)snprintf(path, sizeof(path), "%s/%u/cgroup", holders_of(files)->procfs, pid) >=
	    sizeof(path))
		return 0;
	len = read_file_at(AT_FDCWD, path, text, sizeof(text));
	return len > 0 ? hash64_bytes(HASH64_START, text, (size_t)len) : 0;
}

static void ref(struct device_files *files)
{
	(void)atomic_fetch_add(&holders_of(files)->refs, 1);
}

static void unref(struct device_files *files)
{
	struct device_holders *holders = holders_of(files);

	if (atomic_fetch_sub(&holders->refs, 1) > 1)
		return;
	open_device_finder_close(holders->finder);
	fdinfo_helper_stop(holders->helper);
	free(holders->procfs);
	free(holders);
}

int device_holders_start(const struct config *config, struct device_holders **ret,
			 struct diag *diag)
{
	const struct fdinfo_helper_options options = {
		.procfs = config->host.procfs,
		.majors = majors,
		.major_count = ARRAY_SIZE(majors),
		.is_confined = config->security.seccomp && !config->security.seccomp_log,
	};
	CLEANUP_FREE struct device_holders *holders = NULL;
	CLEANUP_FREE char *procfs = NULL;
	int r;

	*ret = NULL;
	if (!config->meter_enabled || pid_namespace_is_own())
		return 0;
	holders = calloc(1, sizeof(*holders));
	procfs = strdup(config->host.procfs);
	if (!holders || !procfs)
		return diag_set(diag, -ENOMEM, "out of memory");
	holders->files = (struct device_files){ search, open_fdinfo, group, ref, unref };
	holders->refs = 1;
	r = fdinfo_helper_start(&options, &holders->helper, diag);
	if (r < 0)
		return r;
	holders->procfs = TAKE_PTR(procfs);
	*ret = TAKE_PTR(holders);
	return 0;
}

void device_holders_load(struct device_holders *holders, const struct config *config)
{
	int r;

	if (!holders)
		return;
	if (!(config_needs(config) & NEED_DEVICE_USERS)) {
		fdinfo_helper_stop(TAKE_PTR(holders->helper));
		return;
	}
	if (!config->activity.allow_bpf)
		return;
	r = open_device_finder_open(majors, ARRAY_SIZE(majors), &holders->finder);
	if (r < 0)
		log_debug("open device files are searched for in %s: no BPF program: %s",
			  config->host.procfs, strerrordesc_np(-r));
}

struct device_files *device_holders_files(struct device_holders *holders)
{
	return holders && holders->helper ? &holders->files : NULL;
}

void device_holders_release(struct device_holders *holders)
{
	if (holders)
		unref(&holders->files);
}
