// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/local.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "config/config.h"
#include "kepler/pages/pages.h"
#include "kepler/pages/viewer.h"
#include "net/http_unix.h"
#include "net/server/http_server.h"
#include "service/privileges.h"

#define GROUP_FILE      "/etc/group"
#define CONNECTIONS_MAX 32

struct local {
	struct pages pages;
	struct viewing viewing;
	struct http_server *server;
	char address[sizeof(HTTP_UNIX_PREFIX) + HTTP_UNIX_PATH_MAX];
};

/* From the file alone: a directory service may hang. (gid_t)-1: there is no such group. */
static gid_t find_group(const char *name)
{
	FILE *file = fopen(GROUP_FILE, "re");
	const struct group *group;
	gid_t found = (gid_t)-1;

	while (file && found == (gid_t)-1 && (group = fgetgrent(file))) {
		if (strcmp(group->gr_name, name) == 0)
			found = group->gr_gid;
	}
	if (file)
		(void)fclose(file);
	return found;
}

static int read_group(const struct local_options *options, gid_t *ret, struct diag *diag)
{
	bool is_default = strcmp(options->group, LOCAL_GROUP_DEFAULT) == 0;
	uint64_t number;

	*ret = (gid_t)-1;
	if (!*options->group)
		return 0;
	if (parse_u64(options->group, strlen(options->group), &number) == 0 && number < UINT32_MAX)
		*ret = (gid_t)number;
	else
		*ret = find_group(options->group);
	if (*ret == (gid_t)-1 && !is_default)
		return diag_set(diag, -EINVAL,
				"local.group: there is no group \"%.100s\" in " GROUP_FILE
				"; its number can be given instead",
				options->group);
	return 0;
}

/* The directory may be the service manager's, or missing, as /run is empty after a boot. */
static void make_folder(const char *path)
{
	const char *end = strrchr(path, '/');
	char folder[HTTP_UNIX_PATH_MAX + 1];

	if (end <= path)
		return;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
	(void)mkdir(folder, 0755); /* what is wrong with it, listening there says */
}

struct start_request {
	struct local *local;
	const struct local_options *options;
	struct diag *diag;
	int result;
};

static void start_listening(void *userdata)
{
	struct start_request *request = userdata;
	struct local *local = request->local;
	const char *const listen[] = { local->address };
	const struct http_options options = {
		.listen = listen,
		.listen_count = 1,
		.socket_mode = request->options->everyone == EVERYONE_NONE ? 0660 : 0666,
		.max_connections = CONNECTIONS_MAX,
		.routes = local->pages.routes,
		.route_count = PAGES_ROUTES,
		.wake_fd = local->pages.stream_source.wake_fd,
	};

	request->result = http_server_start(&options, &local->server, request->diag);
}

static int listen_there(struct local *local, const struct local_options *options, struct diag *diag)
{
	struct start_request request = { local, options, diag, 0 };
	int r;

	make_folder(options->socket);
	r = privileges_call_without(start_listening, &request);
	if (r < 0)
		return diag_set(diag, r, "local.socket: cannot start a thread: %s",
				strerrordesc_np(-r));
	if (request.result < 0)
		return request.result;
	page_cache_set_http(local->pages.metrics, local->server);
	/* Until then only its owner can connect, or the group that this process has. */
	if (local->viewing.group != (gid_t)-1 && local->viewing.group != getegid() &&
	    lchown(options->socket, (uid_t)-1, local->viewing.group) < 0)
		log_warn("members of local.group cannot connect to %s: its group cannot be set: %s",
			 options->socket, strerrordesc_np(errno));
	return 0;
}

static void stop(void *exporter)
{
	struct local *local = exporter;

	http_server_stop(local->server);
	pages_release(&local->pages);
	if (local->viewing.proc_fd >= 0)
		(void)close(local->viewing.proc_fd);
	free(local);
}

static int open_viewing(struct viewing *viewing, const struct config *config, struct diag *diag)
{
	*viewing = (struct viewing){
		.everyone = config->local.everyone,
		.own = geteuid(),
		.proc_fd = open(config->host.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	return read_group(&config->local, &viewing->group, diag);
}

/* The default place is only a wish: it may be another instance's, or not be writable. */
static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	const struct config *config = program->config;
	const char *path = config->local.socket;
	struct local *local;
	int r;

	if (!*path)
		return 0;
	local = calloc(1, sizeof(*local));
	if (!local)
		return diag_set(diag, -ENOMEM, "out of memory");
	(void)snprintf(local->address, sizeof(local->address), HTTP_UNIX_PREFIX "%s", path);
	r = open_viewing(&local->viewing, config, diag);
	if (r == 0) {
		r = pages_init(&local->pages, program, &local->viewing);
		if (r < 0)
			(void)diag_set(diag, r, "%s", strerrordesc_np(-r));
	}
	if (r == 0)
		r = listen_there(local, &config->local, diag);
	if (r == 0) {
		*ret = local;
		return 0;
	}
	stop(local);
	if (strcmp(path, LOCAL_SOCKET_DEFAULT) != 0 || r == -ENOMEM || r == -EINVAL)
		return r;
	log_info("there is no local socket for kepler top and other users: %s", diag->text);
	diag->text[0] = '\0';
	return 0;
}

static void reconfigure(void *exporter, struct config *config)
{
	struct local *local = exporter;

	pages_reconfigure(&local->pages, config);
}

/* Cuts connections that exceeded their deadline. */
static void turn(void *exporter, uint64_t now_ns)
{
	const struct local *local = exporter;

	http_server_sweep(local->server, now_ns);
}

static void describe(const void *exporter, char *buf, size_t size)
{
	const struct local *local = exporter;

	(void)snprintf(buf, size, "%s", local->address);
}

const struct exporter_ops local_exporter = {
	.start = start,
	.reconfigure = reconfigure,
	.turn = turn,
	.describe = describe,
	.stop = stop,
};
