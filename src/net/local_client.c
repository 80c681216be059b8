// SPDX-License-Identifier: Apache-2.0
#include "net/local_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "net/http_client.h"

#define CONNECT_MS 1000
#define ANSWER_MS  2000
#define HEALTH_MAX 8192

struct local_client {
	const char *socket; /* borrowed */
	struct http_client *http;
};

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *body = userdata;

	strbuf_add(body, bytes, len);
	return strbuf_error(body);
}

/* Takes the reason from an answer that refuses: "403: this user …". */
static int refuse(const char *socket, const char *target, const struct http_reply *reply,
		  const struct strbuf *body, struct diag *diag)
{
	const char *text = body->len ? body->data : "";
	char number[8];
	size_t skip;

	(void)snprintf(number, sizeof(number), "%d: ", reply->status);
	if (reply->status == 404 && strstr(text, "no such page"))
		return diag_set(diag, -EACCES,
				"%s: the exporter there is older than this command: it has no page "
				"%.*s; restart it with this version",
				socket, (int)strcspn(target, "?"), target);
	skip = strncmp(text, number, strlen(number)) == 0 ? strlen(number) : 0;
	return diag_set(diag, reply->status == 503 || reply->status == 429 ? -EAGAIN : -EACCES,
			"%s: %.*s", socket, (int)strcspn(text + skip, "\n"), text + skip);
}

int local_client_get(struct local_client *client, const char *target, size_t max_bytes,
		     struct strbuf *ret, int *ret_status, struct diag *diag)
{
	char url[160];
	struct http_reply reply = { 0 };
	const struct http_request_options request = {
		.url = url,
		.accept = "application/json",
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = ANSWER_MS,
		.max_bytes = max_bytes,
	};
	int r;

	(void)snprintf(url, sizeof(url), "http://localhost%s", target);
	strbuf_reset(ret);
	r = http_client_get(client->http, &request, take_body, ret, &reply, diag);
	if (r < 0 &&
	    r != -ENOMEM) /* the library names a host and a port, which there are none of */
		return diag_set(diag, r, "no exporter responds at %s", client->socket);
	if (ret_status)
		*ret_status = reply.status;
	if (r < 0 || reply.status == 200 || (ret_status && reply.status < 300))
		return r;
	return refuse(client->socket, target, &reply, ret, diag);
}

static int open_client(const char *socket, const char *user_agent, struct local_client *client,
		       struct diag *diag)
{
	const struct http_client_options options = {
		.user_agent = user_agent, .unix_socket = socket, .cancel_fd = -1, .is_local = true
	};
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;
	int r;

	client->socket = socket;
	r = http_client_new(&options, &client->http, diag);
	if (r == 0)
		r = local_client_get(client, "/healthz", HEALTH_MAX, &body, NULL, diag);
	return r == -EAGAIN ? 0 : r;
}

int local_client_open(const char *socket, const char *user_agent, struct local_client **ret,
		      struct diag *diag)
{
	struct local_client *client;
	int r;

	if (!*socket)
		return diag_set(diag, -ENOENT, "local.socket is empty");
	if (access(socket, W_OK) < 0)
		return diag_set(diag, -errno, "%s: %s", socket, strerrordesc_np(errno));
	client = calloc(1, sizeof(*client));
	if (!client)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = open_client(socket, user_agent, client, diag);
	if (r < 0)
		local_client_close(client);
	else
		*ret = client;
	return r;
}

void local_client_close(struct local_client *client)
{
	if (!client)
		return;
	http_client_free(client->http);
	free(client);
}

int local_client_refused(const struct diag *of_exporter, const char *command, struct diag *diag)
{
	return diag_set(
		diag, -EACCES,
		"%s; ask an administrator to start kepler run with --local.everyone=own, or "
		"to add you to the group of --local.group, or measure as root: sudo kepler "
		"%s",
		of_exporter->text, command);
}
