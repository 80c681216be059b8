// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "explain/explain_print.h"
#include "net/http_url.h"

static void answer_static(struct http_response *response, int status, const char *text)
{
	response->status = status;
	response->content_type = "text/plain; charset=utf-8";
	response->body = text;
	response->len = strlen(text);
}

static void release_text(void *owner)
{
	struct strbuf *text = owner;

	strbuf_release(text);
	free(text);
}

static void print(const struct explain_answer *answer, bool json, struct http_response *response)
{
	struct strbuf *text = calloc(1, sizeof(*text));

	if (text && json)
		explain_print_json(answer, text);
	else if (text)
		explain_print(answer, text);
	if (!text || strbuf_error(text) < 0) {
		if (text)
			release_text(text);
		answer_static(response, 503, "out of memory\n");
		return;
	}
	response->status = answer->result == EXPLAIN_FOUND ? 200 : 404;
	response->content_type = json ? "application/json" : "text/plain; charset=utf-8";
	response->body = text->data;
	response->len = text->len;
	response->release = release_text;
	response->owner = text;
}

static unsigned seconds_until(uint64_t now_ns, uint64_t due_ns)
{
	return due_ns > now_ns ? (unsigned)((due_ns - now_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC)
			       : 1;
}

void explain_page(struct explain_desk *desk, const struct http_request *request, uint64_t now_ns,
		  uint64_t due_ns, struct http_response *response)
{
	const struct explain_answer *answer = NULL;
	char target[EXPLAIN_TARGET_MAX];
	bool is_api = strncmp(request->path, EXPLAIN_API_PATH, strlen(EXPLAIN_API_PATH)) == 0;
	size_t prefix = strlen(is_api ? EXPLAIN_API_PATH : EXPLAIN_PATH);
	int r = http_url_unescape(request->path + prefix, target, sizeof(target));

	if (r < 0 || !target[0]) {
		answer_static(
			response, 400,
			"400: a pid, a container's id or name, or a pod is missing or malformed\n");
		return;
	}
	r = explain_desk_ask(desk, target, now_ns, &answer);
	if (r == 0) {
		print(answer, is_api || strstr(request->accept, "application/json"), response);
	} else if (r == -EAGAIN) {
		answer_static(response, 202,
			      "question accepted; the answer is ready at the end of the interval, "
			      "ask again\n");
	} else {
		answer_static(response, 503,
			      r == -EBUSY ? "503: too many questions at once, try again\n"
					  : "out of memory\n");
	}
	if (r < 0)
		response->retry_after_s = seconds_until(now_ns, due_ns);
}
