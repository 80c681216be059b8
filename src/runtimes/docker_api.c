// SPDX-License-Identifier: Apache-2.0
/*
 * GET /containers/json over the unix socket of Docker, or of Podman, whose API is compatible: one
 * request per scan over one persistent connection. The whole answer is held, up to SCAN_LIST_MAX,
 * and read element by element.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "runtimes/scan.h"

#define CONNECT_TIMEOUT_MS 1000
#define ANSWER_TIMEOUT_MS  5000

struct docker_api {
	struct http_client *client;
	struct strbuf body;
};

struct docker_api *docker_api_free(struct docker_api *api)
{
	if (!api)
		return NULL;
	http_client_free(api->client);
	strbuf_release(&api->body);
	free(api);
	return NULL;
}

static int api_new(const char *socket, int cancel_fd, struct docker_api **ret, struct diag *diag)
{
	const struct http_client_options options = {
		.unix_socket = socket,
		.user_agent = "kepler",
		.cancel_fd = cancel_fd,
	};
	struct docker_api *api = calloc(1, sizeof(*api));
	int r = api ? http_client_new(&options, &api->client, diag) : -ENOMEM;

	if (r < 0) {
		free(api);
		return r;
	}
	*ret = api;
	return 0;
}

static int add_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *body = userdata;

	strbuf_add(body, bytes, len);
	return strbuf_error(body);
}

static int fetch(struct docker_api *api, struct diag *diag)
{
	const struct http_request_options request = {
		.url = "http://localhost/containers/json",
		.accept = "application/json",
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.timeout_ms = ANSWER_TIMEOUT_MS,
		.max_bytes = SCAN_LIST_MAX,
	};
	struct http_reply reply = { 0 };
	int r;

	strbuf_reset(&api->body);
	r = http_client_get(api->client, &request, add_body, &api->body, &reply, diag);
	if (r == 0 && reply.status != 200)
		return diag_set(diag, -EPROTO, "status %d", reply.status);
	return r;
}

static int ask(struct scan *scan, const char *socket, struct docker_api **api, struct diag *diag)
{
	struct scan_put put = { .scan = scan };
	uint64_t bad = 0;
	int r = *api ? 0 : api_new(socket, scan->cancel_fd, api, diag);

	if (r == 0)
		r = fetch(*api, diag);
	if (r < 0)
		return r == -ENOENT ? -ENOTCONN : r; /* it is configured: an error */
	r = docker_list_names((*api)->body.data ? (*api)->body.data : "", (*api)->body.len, &bad,
			      scan_put_listed, &put);
	strbuf_release(&(*api)->body);
	scan->stats.bad += bad;
	return r;
}

static int scan_api(struct scan *scan, const char *socket, struct docker_api **api)
{
	const char *root = scan->paths.root ? scan->paths.root : "";
	struct diag diag = { "" };
	char path[108]; /* what a unix socket's address holds */
	int n, r;

	if (!socket)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s%s", root, socket);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	r = ask(scan, path, api, &diag);
	scan->stats.sockets_down += r < 0;
	if (r < 0)
		scan_error(scan, r, *diag.text != '\0' ? diag.text : path);
	return r;
}

int scan_docker_api(struct scan *scan)
{
	return scan_api(scan, scan->paths.docker_socket, &scan->docker_api);
}

int scan_podman_api(struct scan *scan)
{
	return scan_api(scan, scan->paths.podman_socket, &scan->podman_api);
}
