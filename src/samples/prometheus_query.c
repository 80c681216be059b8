// SPDX-License-Identifier: Apache-2.0
#include "samples/prometheus_query.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/json_scan.h"
#include "net/http_client.h"

#define CONNECT_MS      10000
#define NAMES_BYTES     (16ULL << 20)
#define USEC_PER_SEC    1000000
#define REASON_LENGTH   200
#define ERROR_BYTES     800 /* of an error's response */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"

struct prometheus {
	struct prometheus_options options;
	struct http_client *http;
};

int prometheus_new(const struct prometheus_options *options, struct prometheus **ret,
		   struct diag *diag)
{
	const struct http_client_options http = {
		.ca_file = *options->ca_file ? options->ca_file : NULL,
		.user_agent = "kepler-model",
		.environment_proxy = true,
		.cancel_fd = -1,
		.insecure = options->insecure,
	};
	struct prometheus *prometheus = calloc(1, sizeof(*prometheus));
	int r;

	if (!prometheus)
		return diag_set(diag, -ENOMEM, "out of memory");
	prometheus->options = *options;
	r = http_client_new(&http, &prometheus->http, diag);
	if (r < 0)
		prometheus_free(prometheus);
	else
		*ret = prometheus;
	return r;
}

void prometheus_free(struct prometheus *prometheus)
{
	if (prometheus)
		http_client_free(prometheus->http);
	free(prometheus);
}

static void add_escaped(struct strbuf *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-_.~";

	for (; *text; text++) {
		if (strchr(plain, *text))
			strbuf_add_char(out, *text);
		else
			strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
	}
}

static void add_time(struct strbuf *out, const char *name, int64_t time_us)
{
	strbuf_addf(out, "&%s=%lld.%06lld", name, (long long)(time_us / USEC_PER_SEC),
		    (long long)(time_us % USEC_PER_SEC));
}

static void add_path(const struct prometheus *prometheus, struct strbuf *out, const char *path)
{
	const char *url = prometheus->options.url;
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	strbuf_add(out, url, len);
	strbuf_add_str(out, path);
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

struct answer {
	struct strbuf body; /* of an error only its beginning */
	int status;
};

static void note_status(void *userdata, int status)
{
	struct answer *answer = userdata;

	answer->status = status;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct answer *answer = userdata;
	size_t room = ERROR_BYTES - answer->body.len;

	strbuf_add(&answer->body, bytes, answer->status == 200 || len < room ? len : room);
	return strbuf_error(&answer->body);
}

static int ignore_series(void *userdata, const struct series_labels *labels)
{
	(void)userdata;
	(void)labels;
	return 0;
}

static int ignore_point(void *userdata, const struct series_point *point)
{
	(void)userdata;
	(void)point;
	return 0;
}

/* The error that the response states, or else its first line. */
static void find_reason(const struct answer *answer, char ret[static REASON_LENGTH])
{
	static const struct series_sink none = { ignore_series, ignore_point, NULL };
	const char *text = answer->body.data ? answer->body.data : "";
	struct series_answer stated;
	struct diag unused;

	(void)series_read_text(text, answer->body.len, &none, &stated, &unused);
	(void)snprintf(ret, REASON_LENGTH, "%.*s", REASON_LENGTH - 1,
		       stated.error[0] ? stated.error : text);
	if (stated.error[0])
		return;
	ret[strcspn(ret, "\r\n")] = '\0';
	for (char *c = ret; *c; c++)
		*c = (char)((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

static int judge_status(const struct prometheus *prometheus, const struct answer *answer,
			struct diag *diag)
{
	const char *url = prometheus->options.url;
	char reason[REASON_LENGTH];

	find_reason(answer, reason);
	if (answer->status == 401 || answer->status == 403)
		return diag_set(diag, -EACCES,
				"%s: refused (%d): check token-file, user and password-file", url,
				answer->status);
	if (strstr(reason, "too many samples") || strstr(reason, "maximum resolution"))
		return diag_set(diag, -E2BIG, "%s: %s", url, reason);
	if (answer->status == 429 || answer->status >= 500)
		return diag_set(diag, -EAGAIN, "%s: answered %d: %s", url, answer->status, reason);
	return diag_set(diag, -EPROTO, "%s: answered %d: %s", url, answer->status, reason);
}

static bool may_succeed_later(int err)
{
	return err == -ETIMEDOUT || err == -ECONNREFUSED || err == -EHOSTUNREACH || err == -EIO ||
	       err == -ECONNRESET;
}

static int get(struct prometheus *prometheus, const char *url, struct answer *answer,
	       uint64_t max_bytes, struct diag *diag)
{
	const struct prometheus_options *options = &prometheus->options;
	struct http_request_options request = {
		.url = url,
		.bearer_token = or_null(options->bearer_token),
		.accept = "application/json",
		.user = or_null(options->user),
		.password = or_null(options->user) ? options->password : NULL,
		.status = note_status,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = options->timeout_ms,
		.max_bytes = max_bytes,
	};
	struct diag why = { "" };
	struct http_reply reply;
	int r;

	r = http_client_get(prometheus->http, &request, take_body, answer, &reply, &why);
	if (r == -ECANCELED)
		return r;
	if (r == 0 && reply.status != 200)
		return judge_status(prometheus, answer, diag);
	if (r == -EMSGSIZE)
		return diag_set(diag, -E2BIG, "%s: the response is larger than %llu MiB",
				options->url, (unsigned long long)(max_bytes >> 20));
	if (r < 0 && why.text[0])
		(void)diag_set(diag, r, "%s", why.text); /* it begins with the URL */
	else if (r < 0)
		(void)diag_set(diag, r, "%s: %s", options->url, strerrordesc_np(-r));
	return may_succeed_later(r) ? -EAGAIN : r;
}

static int malformed(const struct prometheus *prometheus, int err, const char *why,
		     struct diag *diag)
{
	return diag_set(diag, err, "%s: the response is malformed: %s", prometheus->options.url,
			why);
}

/* ---- names ---- */

struct names {
	char (*names)[COLLECT_NAME_MAX];
	size_t count, size;
	bool (*wants)(void *userdata, const char *name);
	void *userdata;
};

static int add_name(struct names *names, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	/* Other names need quotes in queries; Kepler has none. */
	if (!len || len >= COLLECT_NAME_MAX || strspn(name, NAME_CHARACTERS) < len ||
	    !names->wants(names->userdata, name))
		return 0;
	if (names->count == COLLECT_METRICS_MAX)
		return -ENOSPC;
	if (ARRAY_RESERVE(names->names, names->size, names->count + 1) < 0)
		return -ENOMEM;
	memset(names->names[names->count], 0, COLLECT_NAME_MAX);
	memcpy(names->names[names->count++], name, len);
	return 0;
}

/* {"status": "success", "data": ["a", "b"]} */
static int take_names(const struct prometheus *prometheus, const struct strbuf *body,
		      struct names *names, struct diag *diag)
{
	bool is_deep = body->len && json_is_too_deep(body->data, body->len);
	json_error_t error = { .text = "nested too deeply" };
	json_t *json = is_deep ? NULL : json_loadb(body->data, body->len, 0, &error);
	const json_t *data = json_object_get(json, "data");
	int r = json ? 0 : malformed(prometheus, -EPROTO, error.text, diag);

	for (size_t i = 0; r == 0 && i < json_array_size(data); i++)
		r = add_name(names, json_string_value(json_array_get(data, i)));
	json_decref(json);
	return r;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

int prometheus_metrics(struct prometheus *prometheus, int64_t start_us, int64_t end_us,
		       bool (*wants)(void *userdata, const char *name), void *userdata,
		       char (**ret)[COLLECT_NAME_MAX], size_t *ret_count, struct diag *diag)
{
	struct names names = { .wants = wants, .userdata = userdata };
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct answer answer = { .body = STRBUF_INIT };
	int r;

	add_path(prometheus, &url, "/api/v1/label/__name__/values?");
	add_time(&url, "start", start_us);
	add_time(&url, "end", end_us);
	if (*prometheus->options.matchers) {
		strbuf_add_str(&url, "&match%5B%5D=");
		add_escaped(&url, "{");
		add_escaped(&url, prometheus->options.matchers);
		add_escaped(&url, "}");
	}
	r = strbuf_error(&url);
	if (r == 0)
		r = get(prometheus, url.data, &answer, NAMES_BYTES, diag);
	if (r == 0)
		r = take_names(prometheus, &answer.body, &names, diag);
	strbuf_release(&answer.body);
	if (r == -ENOSPC)
		(void)diag_set(diag, r, "more than %d metrics: choose with metric-prefix",
			       COLLECT_METRICS_MAX);
	if (r < 0) {
		free(names.names);
		return r;
	}
	if (names.count)
		qsort(names.names, names.count, sizeof(*names.names), compare_names);
	*ret = names.names;
	*ret_count = names.count;
	return 0;
}

/* ---- points ---- */

int prometheus_range(struct prometheus *prometheus, const struct collect_range *range,
		     const struct series_sink *sink, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct answer answer = { .body = STRBUF_INIT };
	struct series_answer stated = { .is_success = false };
	struct diag why = { "" };
	int r;

	add_path(prometheus, &url, "/api/v1/query_range?query=");
	add_escaped(&url, range->metric);
	add_escaped(&url, "{");
	add_escaped(&url, prometheus->options.matchers);
	add_escaped(&url, "}");
	add_time(&url, "start", range->from_us);
	add_time(&url, "end", range->to_us);
	add_time(&url, "step", range->step_us);
	r = strbuf_error(&url);
	if (r == 0)
		r = get(prometheus, url.data, &answer, PROMETHEUS_ANSWER_MAX, diag);
	if (r == 0)
		r = series_read_text(answer.body.data ? answer.body.data : "", answer.body.len,
				     sink, &stated, &why);
	if (r < 0 && why.text[0])
		r = malformed(prometheus, r, why.text, diag);
	strbuf_release(&answer.body);
	if (r == 0 && !stated.is_success)
		return diag_set(diag, -EPROTO, "%s: %s", prometheus->options.url,
				stated.error[0] ? stated.error
						: "the response is not from Prometheus");
	return r;
}
