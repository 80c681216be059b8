// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/stat_route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/proc.h"
#include "stat/stat_reading.h"

static void answer(struct http_response *response, int status, const char *text)
{
	response->status = status;
	response->content_type = "text/plain; charset=utf-8";
	response->body = text;
	response->len = strlen(text);
}

static void release_page(void *owner)
{
	struct strbuf *page = owner;

	strbuf_release(page);
	free(page);
}

/* The process that has this pid has started at another time, or there is none. */
static bool is_gone(const void *userdata, const struct tree_id *client)
{
	const struct viewer *viewer = userdata;
	struct proc_stat stat;

	return proc_read_stat(viewer->proc_fd, client->pid, &stat) < 0 ||
	       !proc_is_same_start(proc_start_ns(&stat), client->start_ns);
}

/* false: it has been answered why there is none. */
static bool find_client(const struct viewer *viewer, const struct http_request *request,
			struct http_response *response, struct stat_client *ret)
{
	struct http_peer_user user;
	struct proc_stat stat;

	if (!http_request_user(request, &user) || user.pid <= 0 ||
	    proc_read_stat(viewer->proc_fd, (uint32_t)user.pid, &stat) < 0) {
		answer(response, 403,
		       "403: the exporter cannot see the process that asks: kepler stat works over "
		       "the local socket, and not from a pid namespace beside the exporter's\n");
		return false;
	}
	*ret = (struct stat_client){
		.process = { (uint32_t)user.pid, proc_start_ns(&stat) },
		.uid = user.uid,
		.is_trusted = viewer->is_trusted,
	};
	return true;
}

static void answer_error(struct http_response *response, int error)
{
	switch (error) {
	case -EAGAIN:
		answer(response, 202, "202: ask again\n");
		return;
	case -ENOSPC:
		answer(response, 503, "503: too many commands are measured at once\n");
		response->retry_after_s = 1;
		return;
	case -EOPNOTSUPP:
		answer(response, 501,
		       "501: the exporter cannot follow descendants, because it reads processes "
		       "without BPF: kepler doctor reports why\n");
		return;
	case -ENOENT:
		answer(response, 404,
		       "404: no command of this process is measured; the exporter may have been "
		       "restarted meanwhile\n");
		return;
	default:
		answer(response, 503, "503: out of memory\n");
		response->retry_after_s = 1;
	}
}

static int begin(struct stat_desk *desk, const struct viewer *viewer,
		 const struct stat_client *client)
{
	int r = stat_desk_begin(desk, client);

	if (r == -ENOSPC)
		stat_desk_sweep(desk, is_gone, viewer);
	return r;
}

static void answer_read(struct stat_desk *desk, const struct stat_client *client,
			struct http_response *response)
{
	struct strbuf *page = calloc(1, sizeof(*page));
	int r = page ? stat_desk_read(desk, client, page) : -ENOMEM;

	if (r < 0) {
		if (page)
			release_page(page);
		answer_error(response, r);
		return;
	}
	response->status = 200;
	response->content_type = "application/json";
	response->body = page->data;
	response->len = page->len;
	response->release = release_page;
	response->owner = page;
}

void stat_route_answer(struct stat_desk *desk, const struct viewer *viewer,
		       struct viewer_times *times, const struct http_request *request,
		       struct http_response *response)
{
	const char *what = http_request_argument(request, "do");
	struct stat_client client;
	int r = 0;

	if (!find_client(viewer, request, response, &client))
		return;
	if (what && strcmp(what, "read") == 0) {
		if (client.is_trusted ||
		    viewer_take_turn(times, client.uid, clock_ns(CLOCK_MONOTONIC)))
			answer_read(desk, &client, response);
		else
			answer_error(response, -EAGAIN);
		return;
	}
	if (what && strcmp(what, "begin") == 0) {
		r = begin(desk, viewer, &client);
	} else if (what && strcmp(what, "end") == 0) {
		stat_desk_end(desk, &client);
	} else {
		answer(response, 400, "400: do: want begin, read or end\n");
		return;
	}
	if (r == 0)
		answer(response, 200, "ok\n");
	else
		answer_error(response, r);
}
