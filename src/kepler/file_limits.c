// SPDX-License-Identifier: Apache-2.0
#include "kepler/file_limits.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/macro.h"
#include "kepler/landlock.h"

static void add(const char **paths, size_t *count, const char *path)
{
	if (path && path[0] && *count < LANDLOCK_PATHS_MAX)
		paths[(*count)++] = path;
}

static int enter(const struct config *config, struct diag *diag)
{
	struct landlock_paths paths = { 0 };
	const char *const used[] = {
		config->config_file,
		config->host_sysfs,
		config->host_procfs,
		config->host_cgroupfs,
		config->kube_config,
		config->kube_kubelet_ca_file,
		config->runtimes_docker_socket,
		config->runtimes_podman_socket,
	};

	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		add(paths.used, &paths.used_count, used[i]);
	add(paths.writable, &paths.writable_count, config->host_state_dir);
	/* It could not be made later. What fails now fails again, and is told, when it is used. */
	if (config->host_state_dir && config->host_state_dir[0])
		(void)mkdir(config->host_state_dir, 0755);
	return landlock_enter(&paths, diag);
}

int file_limits_enter(const struct config *config)
{
	struct diag diag = { "" };
	int r;

#ifdef KEPLER_COVERAGE
	return 0; /* the runtime of gcov writes its files at the end */
#endif
	if (!config->security_landlock)
		return 0;
	r = enter(config, &diag);
	if (r == -EOPNOTSUPP)
		log_info("which files may be written is not limited: %s", diag.text);
	else if (r < 0)
		log_warn("which files may be written is not limited: %s", diag.text);
	return r < 0 ? 0 : r;
}
