// SPDX-License-Identifier: Apache-2.0
/*
 * Rules are made from open directories, and any of them may be on a mount that hangs: so a thread
 * opens them. If it does not answer in time it is abandoned, and another thread makes all rules
 * again without the path at which the first one hangs. Threads that hang keep no capability.
 */
#include "engine/file_limits.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/offload.h"
#include "engine/names.h"
#include "kube/kube_access.h"
#include "meter/meter_sources.h"
#include "net/http_unix.h"
#include "service/landlock.h"
#include "service/privileges.h"

#define PATIENCE_NS (5 * NSEC_PER_SEC) /* for one thread, on a machine that is busy */
#define HANGING_MAX 3

/* Paths that hang: those that were found before, and last the current one. */
struct hanging {
	char paths[HANGING_MAX][PATH_MAX];
	size_t count;
};

struct limits_job {
	struct offload_job job;
	struct config config; /* a copy */
	char socket_folders[WEB_LISTEN_MAX + 1][HTTP_UNIX_PATH_MAX + 1];
	size_t socket_folder_count;
	struct hanging hanging;
	pthread_mutex_t lock; /* of `touched` */
	char touched[PATH_MAX];
	int result; /* a descriptor, or -errno */
	struct diag diag;
};

static void job_free(struct limits_job *job)
{
	config_release(&job->config);
	if (job->result >= 0)
		(void)close(job->result);
	(void)pthread_mutex_destroy(&job->lock);
	free(job);
}

static void job_drop(struct offload_job *job)
{
	job_free((struct limits_job *)job);
}

static bool may_touch(void *userdata, const char *path)
{
	struct limits_job *job = userdata;

	for (size_t i = 0; i < job->hanging.count; i++) {
		if (strcmp(job->hanging.paths[i], path) == 0)
			return false;
	}
	(void)pthread_mutex_lock(&job->lock);
	(void)snprintf(job->touched, sizeof(job->touched), "%s", path);
	(void)pthread_mutex_unlock(&job->lock);
	return true;
}

static void add(struct landlock_paths *paths, const char *path)
{
	if (path && path[0] && paths->used_count < LANDLOCK_PATHS_MAX)
		paths->used[paths->used_count++] = path;
}

static void add_meter_file(void *userdata, const char *path)
{
	add(userdata, path);
}

/* Which meters are chosen depends on the devices in sysfs. */
static void add_meters(struct limits_job *job, struct landlock_paths *paths)
{
	const struct meter_options options = config_meter_options(&job->config);
	const struct meter_device *device;
	size_t count = 0;

	if (!job->config.meter_enabled || !may_touch(job, options.sysfs))
		return;
	meter_files(&options, add_meter_file, paths);
	for (size_t i = 0; (device = meter_device_at(&options, i)); i++) {
		if (device->written && count < LANDLOCK_DEVICES_MAX)
			paths->devices[count++] = device->written;
	}
}

/* Errors in a kubeconfig are reported where it is used. */
static void add_kubeconfig(struct limits_job *job, struct kube_access *access,
			   struct landlock_paths *paths)
{
	const struct kube_options *kube = &job->config.kube;
	struct diag unused = { "" };

	if (!config_uses_api_server(&job->config) || !kube->kubeconfig[0] ||
	    !may_touch(job, kube->kubeconfig))
		return;
	add(paths, kube->kubeconfig);
	if (kube_access_from_kubeconfig(kube->kubeconfig, kube->context[0] ? kube->context : NULL,
					access, &unused) < 0)
		return;
	add(paths, access->ca_file);
	add(paths, access->client_cert_file);
	add(paths, access->client_key_file);
	add(paths, access->token_file);
}

/* Its errors are reported where it is used. */
static void add_web_config(struct limits_job *job, struct web_security **security,
			   struct landlock_paths *paths)
{
	const char *path = job->config.web.config_file;
	struct diag unused = { "" };

	if (!*path || !may_touch(job, path) || web_security_open(path, security, &unused) < 0)
		return;
	for (size_t i = 0; i < (*security)->files.count; i++)
		add(paths, (*security)->files.list[i].path);
}

static void unref_security(struct web_security **security)
{
	web_security_unref(*security);
}

static void add_options(const struct config *config, struct landlock_paths *paths)
{
	const char *file;
	const char *const named[] = {
		config->options.file,     config->host.sysfs,           config->host.procfs,
		config->host.cgroupfs,    config->kube.kubelet_ca_file, config->model_ca_file,
		config->model_token_file, config->model_public_key,     config->web.token_file,
		config->web.config_file,
	};

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		add(paths, named[i]);
	for (size_t i = 0; i < config->model_file_count; i++)
		add(paths, config->model_files[i]);
	for (size_t i = 0; (file = push_file_at(&config->push, i)); i++)
		add(paths, file);
	for (size_t i = 0; (file = rates_file_at(&config->rates, i)); i++)
		add(paths, file);
	for (size_t i = 0; (file = units_file_at(&config->units, i)); i++)
		add(paths, file);
}

static void add_writable(struct limits_job *job, const char *folder, struct landlock_paths *paths)
{
	if (folder[0] && may_touch(job, folder))
		paths->writable[paths->writable_count++] = folder;
}

/* It could not be made later. Whatever writes there reports what is wrong with it. */
static void add_tree(struct limits_job *job, const char *folder, struct landlock_paths *paths)
{
	if (!folder[0] || !may_touch(job, folder))
		return;
	if (mkdir(folder, 0755) == 0)
		(void)chmod(folder, 0755); /* whatever the umask is */
	paths->trees[paths->tree_count++] = folder;
}

static void job_run(struct offload_job *base)
{
	struct limits_job *job = (struct limits_job *)base;
	const char *state_dir = job->config.host.state_dir;
	CLEANUP(kube_access_release) struct kube_access access = { 0 };
	CLEANUP(unref_security) struct web_security *security = NULL;
	struct landlock_paths paths = { 0 };
	const char *folder;

	add_options(&job->config, &paths);
	add_meters(job, &paths);
	add_kubeconfig(job, &access, &paths);
	add_web_config(job, &security, &paths);
	/*
	 * It could not be created later. An error now occurs again, and is reported, when it is
	 * used.
	 */
	if (state_dir[0] && may_touch(job, state_dir))
		(void)mkdir(state_dir, 0755);
	add_writable(job, state_dir, &paths);
	add_writable(job, job->config.record.dir, &paths);
	for (size_t i = 0; (folder = push_folder_at(&job->config.push, i)); i++)
		add_tree(job, folder, &paths);
	for (size_t i = 0; i < job->socket_folder_count; i++)
		paths.sockets[paths.socket_count++] = job->socket_folders[i];
	job->result = landlock_rules(&paths, may_touch, job, &job->diag);
}

/* The folders of unix sockets to listen on: these are made, renamed and removed. */
static void add_socket_folder(struct limits_job *job, const char *path)
{
	const char *end = path ? strrchr(path, '/') : NULL;
	char *folder = job->socket_folders[job->socket_folder_count];

	if (!end)
		return;
	(void)snprintf(folder, HTTP_UNIX_PATH_MAX + 1, "%.*s", end > path ? (int)(end - path) : 1,
		       path);
	job->socket_folder_count++;
}

static void add_socket_folders(struct limits_job *job, const struct config *config)
{
	for (size_t i = 0; i < config->web.listen_count; i++)
		add_socket_folder(job, http_unix_path(config->web.listen[i]));
	add_socket_folder(job, config->local.socket);
}

/* It runs before anything is served: nothing here may look into a file system that hangs. */
static struct limits_job *job_new(const struct config *config, const struct hanging *hanging)
{
	struct limits_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	if (config_copy(config, &job->config) < 0) {
		free(job);
		return NULL;
	}
	job->job.run = job_run;
	job->job.drop = job_drop;
	job->result = -ETIMEDOUT;
	job->hanging = *hanging;
	(void)pthread_mutex_init(&job->lock, NULL);
	add_socket_folders(job, config);
	return job;
}

static bool wait_for(struct offload *pool)
{
	struct pollfd ready = { .fd = offload_fd(pool), .events = POLLIN };

	return poll(&ready, 1, (int)(PATIENCE_NS / NSEC_PER_MSEC)) == 1;
}

/* -ETIMEDOUT: one more path is in @hanging. */
static int make_rules(struct offload *pool, const struct config *config, struct hanging *hanging,
		      struct diag *diag)
{
	struct limits_job *job = job_new(config, hanging);
	int r = job ? offload_submit(pool, &job->job) : -ENOMEM;

	if (r < 0) {
		if (job)
			job_free(job);
		return diag_set(diag, r, "%s", strerrordesc_np(-r));
	}
	if (wait_for(pool) && offload_take(pool) == &job->job) {
		*diag = job->diag;
		r = job->result;
		job->result = -1;
		job_free(job);
		return r;
	}
	(void)pthread_mutex_lock(&job->lock);
	(void)snprintf(hanging->paths[hanging->count], PATH_MAX, "%s", job->touched);
	(void)pthread_mutex_unlock(&job->lock);
	log_warn("%s does not respond: until Kepler restarts, nothing there can be written, or "
		 "read if it is in /home or similar",
		 hanging->paths[hanging->count++]);
	offload_abandon(pool, &job->job);
	return diag_set(diag, -ETIMEDOUT, "too many paths do not respond");
}

static int enter(const struct config *config, struct diag *diag)
{
	static const struct offload_options options = { .max_threads = HANGING_MAX,
							.start_thread = privileges_drop_thread };
	CLEANUP_FREE struct hanging *hanging = calloc(1, sizeof(*hanging));
	struct offload *pool = NULL;
	CLEANUP_FD int rules = -1;
	int r = hanging ? offload_new(&options, &pool) : -ENOMEM;

	if (r < 0)
		return diag_set(diag, r, "%s", strerrordesc_np(-r));
	do
		rules = make_rules(pool, config, hanging, diag);
	while (rules == -ETIMEDOUT && hanging->count < HANGING_MAX);
	/* No thread without these limits may be left, except those that hang. */
	offload_free(pool, hanging->count ? 0 : PATIENCE_NS);
	return rules < 0 ? rules : landlock_enter(rules, diag);
}

int file_limits_enter(const struct config *config)
{
	struct diag diag = { "" };
	int r;

	if (!config->security.landlock)
		return 0;
	r = enter(config, &diag);
	if (r == -EOPNOTSUPP)
		log_info("file access is not limited: %s", diag.text);
	else if (r < 0)
		log_warn("file access is not limited: %s", diag.text);
	return r < 0 ? 0 : r;
}
