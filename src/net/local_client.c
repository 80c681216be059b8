// SPDX-License-Identifier: Apache-2.0
#include "net/local_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
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

/* The library's own words name a host and a port, which there are none of. */
static int no_answer(const struct local_client *client, int r, struct diag *diag)
{
	if (r == -ENOMEM || r == -ECANCELED)
		return r;
	if (r == -EMSGSIZE)
		return diag_set(diag, r,
				"%s: the answer is too long to be that of an exporter; check that "
				"local.socket is its socket",
				client->socket);
	return diag_set(diag, r, "no exporter responds at %s", client->socket);
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
	if (r < 0)
		return no_answer(client, r, diag);
	if (ret_status)
		*ret_status = reply.status;
	if (reply.status == 200 || (ret_status && reply.status < 300))
		return 0;
	return refuse(client->socket, target, &reply, ret, diag);
}

/* An answer in lines, as it comes. */
struct following {
	struct strbuf line;
	size_t max_bytes;
	uint64_t patience_ns, deadline_ns;
	int status;
	local_line_fn *take;
	void *userdata;
};

static void note_status(void *userdata, int status)
{
	struct following *following = userdata;

	following->status = status;
}

/* The rest of an answer without an end of line, and the text of one that refuses, stay. */
static int take_lines(void *userdata, const char *bytes, size_t len)
{
	struct following *following = userdata;

	while (len) {
		const char *end = following->status == 200 ? memchr(bytes, '\n', len) : NULL;
		size_t part = end ? (size_t)(end - bytes) + 1 : len;

		if (following->line.len + part > following->max_bytes)
			return -EMSGSIZE;
		strbuf_add(&following->line, bytes, part);
		if (strbuf_error(&following->line) < 0)
			return -ENOMEM;
		bytes += part;
		len -= part;
		if (!end)
			break;
		following->take(following->userdata, &following->line);
		strbuf_reset(&following->line);
		following->deadline_ns = clock_ns(CLOCK_MONOTONIC) + following->patience_ns;
	}
	return 0;
}

static int follow(struct local_client *client, const char *target, struct following *following,
		  struct diag *diag)
{
	char url[160];
	struct http_reply reply = { 0 };
	const struct http_request_options request = {
		.url = url,
		.accept = "application/x-ndjson, application/json",
		.status = note_status,
		.connect_timeout_ms = CONNECT_MS,
		.answer_timeout_ms = ANSWER_MS,
		.deadline_ns = &following->deadline_ns,
	};
	int r;

	(void)snprintf(url, sizeof(url), "http://localhost%s", target);
	r = http_client_get(client->http, &request, take_lines, following, &reply, diag);
	if (r < 0)
		return no_answer(client, r, diag);
	if (reply.status != 200)
		return refuse(client->socket, target, &reply, &following->line, diag);
	if (following->line.len)
		following->take(following->userdata, &following->line);
	return 0;
}

int local_client_follow(struct local_client *client, const char *target, size_t max_bytes,
			uint64_t patience_ns, local_line_fn *line, void *userdata,
			struct diag *diag)
{
	struct following following = {
		.line = STRBUF_INIT,
		.max_bytes = max_bytes,
		.patience_ns = patience_ns,
		.deadline_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns,
		.take = line,
		.userdata = userdata,
	};
	int r = follow(client, target, &following, diag);

	strbuf_release(&following.line);
	return r;
}

static int open_client(const char *socket, const char *user_agent, int cancel_fd,
		       struct local_client *client, struct diag *diag)
{
	const struct http_client_options options = { .user_agent = user_agent,
						     .unix_socket = socket,
						     .cancel_fd = cancel_fd,
						     .is_local = true };
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;
	int r;

	client->socket = socket;
	r = http_client_new(&options, &client->http, diag);
	if (r == 0)
		r = local_client_get(client, "/healthz", HEALTH_MAX, &body, NULL, diag);
	return r == -EAGAIN ? 0 : r;
}

int local_client_open_cancelled(const char *socket, const char *user_agent, int cancel_fd,
				struct local_client **ret, struct diag *diag)
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
	r = open_client(socket, user_agent, cancel_fd, client, diag);
	if (r < 0)
		local_client_close(client);
	else
		*ret = client;
	return r;
}

int local_client_open(const char *socket, const char *user_agent, struct local_client **ret,
		      struct diag *diag)
{
	return local_client_open_cancelled(socket, user_agent, -1, ret, diag);
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
