// SPDX-License-Identifier: Apache-2.0
/*
 * All series of a scrape have its time, so the samples of one time are a page. The range begins at
 * the last scrape and overlaps it by a margin, in which a late scrape is still found.
 */
#include "evidence/prometheus_source.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "net/http_url.h"

#define CONNECT_MS  2000
#define ANSWER_MAX  (64U * 1024 * 1024)
#define QUERY_MAX   2048
#define SCRAPES_MAX 256 /* of one answer: the oldest are handed out, the others later */
#define MARGIN_S    10
#define METRICS                                                                                    \
	"__name__=~\"kepler_.+|scaph_.+|.*rapl_consumed_energy.*|.*attributed_energy.*|.*cpu_"     \
	"time_delta.*\""

struct prometheus_source {
	struct http_client *http;
	char url[512], selector[512], user[256];
	char *token, *password;
	uint64_t timeout_ms;
	json_t *types; /* metric → [{type, help}] */
	double last_s; /* of the last scrape; NAN: before the first call */
};

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	strbuf_add(userdata, bytes, len);
	return strbuf_error(userdata);
}

/* The member "data" of an answer, or NULL with a diagnosis in *@ret and *@diag. */
static json_t *ask(struct prometheus_source *source, const char *path, int *ret, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf body = { 0 };
	char url[sizeof(source->url) + QUERY_MAX];
	const struct http_request_options request = {
		.url = url,
		.accept = "application/json",
		.bearer_token = source->token,
		.user = *source->user ? source->user : NULL,
		.password = source->password,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = source->timeout_ms,
		.max_bytes = ANSWER_MAX,
	};
	struct http_reply reply;
	json_error_t error;

	(void)snprintf(url, sizeof(url), "%s/api/v1/%s", source->url, path);
	*ret = http_client_get(source->http, &request, take_body, &body, &reply, diag);
	if (*ret < 0)
		return NULL;
	CLEANUP(cleanup_json)
	json_t *answer = json_loadb(body.data ? body.data : "", body.len, 0, &error);
	json_t *data = json_incref(json_object_get(answer, "data"));
	if (reply.status == 200 && data)
		return data;
	const char *reason = json_string_value(json_object_get(answer, "error"));
	json_decref(data);
	*ret = diag_set(diag, -EPROTO, "%.*s: status %d%s%.200s", http_url_site_len(source->url),
			source->url, reply.status, reason ? ": " : " without an answer",
			reason ? reason : "");
	return NULL;
}

static json_t *query(struct prometheus_source *source, const char *text, double time_s, int *ret,
		     struct diag *diag)
{
	char escaped[QUERY_MAX - 64], path[QUERY_MAX];

	if (http_url_escape(text, escaped, sizeof(escaped)) < 0) {
		*ret = diag_set(diag, -EINVAL, "prometheus.selector: is too long");
		return NULL;
	}
	(void)snprintf(path, sizeof(path), "query?query=%s&time=%.3f", escaped, time_s);
	CLEANUP(cleanup_json) json_t *data = ask(source, path, ret, diag);
	return json_incref(json_object_get(data, "result"));
}

static const char *label(const json_t *metric, const char *name)
{
	const char *text = json_string_value(json_object_get(metric, name));

	return text ? text : "";
}

/* One target, else a diagnosis that names up to three. */
static int check_target(struct prometheus_source *source, struct diag *diag)
{
	char text[1024], names[256] = "";
	size_t index, len = 0;
	json_t *target;
	int r = 0;

	(void)snprintf(text, sizeof(text), "count by (job, instance) ({" METRICS "%s%s})",
		       *source->selector ? "," : "", source->selector);
	CLEANUP(cleanup_json)
	json_t *found = query(source, text, (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC,
			      &r, diag);
	if (!found)
		return r < 0 ? r : diag_set(diag, -EPROTO, "the Prometheus has no result");
	if (json_array_size(found) == 1)
		return 0;
	if (json_array_size(found) == 0)
		return diag_set(diag, -EINVAL,
				"prometheus.selector: {%s} matches no series of a known exporter",
				source->selector);
	json_array_foreach(found, index, target)
	{
		const json_t *metric = json_object_get(target, "metric");

		if (index < 3 && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len,
						"%sjob=\"%.30s\",instance=\"%.30s\"",
						index ? "; " : "", label(metric, "job"),
						label(metric, "instance"));
	}
	return diag_set(diag, -EINVAL,
			"prometheus.selector: {%s} matches %zu targets; choose one: %s",
			source->selector, json_array_size(found), names);
}

static bool is_local(const char *url)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };
	struct http_url parts;

	http_url_split(url, &parts);
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		if (parts.host_len == strlen(hosts[i]) &&
		    strncmp(parts.host, hosts[i], parts.host_len) == 0)
			return true;
	return false;
}

void prometheus_source_free(struct prometheus_source *source)
{
	if (!source)
		return;
	http_client_free(source->http);
	free(source->token);
	free(source->password);
	json_decref(source->types);
	free(source);
}

static void cleanup_source(struct prometheus_source **source)
{
	prometheus_source_free(*source);
}

static int read_secrets(struct prometheus_source *source, const struct prometheus_options *options,
			struct diag *diag)
{
	int r = *options->token_file ? secret_file_read(options->token_file, &source->token, diag)
				     : 0;

	if (r == 0 && *options->password_file)
		r = secret_file_read(options->password_file, &source->password, diag);
	return r;
}

int prometheus_source_open(const struct prometheus_options *options, struct prometheus_source **ret,
			   struct diag *diag)
{
	const struct http_client_options http = {
		.user_agent = "kepler-validator",
		.ca_file = *options->ca_file ? options->ca_file : NULL,
		.environment_proxy = true,
		.cancel_fd = -1,
		.is_local = is_local(options->url),
	};
	CLEANUP(cleanup_source) struct prometheus_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->timeout_ms = options->timeout_ms;
	source->last_s = NAN;
	(void)snprintf(source->url, sizeof(source->url), "%s", options->url);
	(void)snprintf(source->selector, sizeof(source->selector), "%s", options->selector);
	(void)snprintf(source->user, sizeof(source->user), "%s", options->user);
	r = read_secrets(source, options, diag);
	if (r == 0)
		r = http_client_new(&http, &source->http, diag);
	if (r == 0)
		r = check_target(source, diag);
	if (r < 0)
		return r;
	source->types = ask(source, "metadata", &r, diag);
	if (!source->types)
		return r < 0 ? r : -EPROTO;
	*ret = TAKE_PTR(source);
	return 0;
}

static void add_text(struct strbuf *page, const char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			strbuf_addf(page, "\\n");
		else if (*text == '"' || *text == '\\')
			strbuf_addf(page, "\\%c", *text);
		else
			strbuf_add_char(page, *text);
}

/* A page of OpenMetrics names a counter without its "_total". */
static const json_t *find_type(const struct prometheus_source *source, const char *name)
{
	const json_t *found = json_object_get(source->types, name);
	size_t len = strlen(name);
	char family[256];

	if (!found && len > 6 && len < sizeof(family) && strcmp(name + len - 6, "_total") == 0) {
		(void)snprintf(family, sizeof(family), "%.*s", (int)(len - 6), name);
		found = json_object_get(source->types, family);
	}
	return json_array_get(found, 0);
}

/* Rows come in any order, so each has its metric's type in front of it. */
static void add_type(const struct prometheus_source *source, struct strbuf *page, const char *name)
{
	const json_t *about = find_type(source, name);
	const char *help = label(about, "help"), *type = label(about, "type");

	if (*help) {
		strbuf_addf(page, "# HELP %s ", name);
		add_text(page, help);
		strbuf_add_char(page, '\n');
	}
	if (*type)
		strbuf_addf(page, "# TYPE %s %s\n", name, type);
}

static void add_row(const struct prometheus_source *source, struct strbuf *page,
		    const json_t *series, const char *value)
{
	json_t *metric = json_object_get(series, "metric"), *text;
	const char *name = label(metric, "__name__"), *key;

	add_type(source, page, name);
	strbuf_addf(page, "%s{", name);
	json_object_foreach(metric, key, text)
	{
		if (strcmp(key, "__name__") == 0)
			continue;
		strbuf_addf(page, "%s=\"", key);
		add_text(page, json_string_value(text) ? json_string_value(text) : "");
		strbuf_addf(page, "\",");
	}
	strbuf_addf(page, "} %s\n", value);
}

/* The scrapes after @after_s, in order and each once; how many. */
static size_t find_times(const json_t *result, double after_s, double *times)
{
	size_t count = 0, i, k;
	json_t *series, *sample;

	json_array_foreach(result, i, series)
	{
		json_array_foreach(json_object_get(series, "values"), k, sample)
		{
			double time_s = json_number_value(json_array_get(sample, 0));
			size_t at = count;

			while (at > 0 && times[at - 1] > time_s)
				at--;
			bool is_known = at > 0 && !(times[at - 1] < time_s);
			if (!(time_s > after_s) || is_known || at == SCRAPES_MAX)
				continue;
			count += count < SCRAPES_MAX;
			memmove(times + at + 1, times + at, (count - at - 1) * sizeof(*times));
			times[at] = time_s;
		}
	}
	return count;
}

static int hand_out(const struct prometheus_source *source, const json_t *result, double time_s,
		    prometheus_page_fn *page, void *userdata)
{
	CLEANUP(strbuf_release) struct strbuf text = { 0 };
	json_t *series, *sample;
	size_t i, k;

	json_array_foreach(result, i, series)
	{
		json_array_foreach(json_object_get(series, "values"), k, sample)
		{
			const char *value = json_string_value(json_array_get(sample, 1));
			double at_s = json_number_value(json_array_get(sample, 0));

			if (value && !(at_s < time_s) && !(at_s > time_s))
				add_row(source, &text, series, value);
		}
	}
	strbuf_add_char(&text, '\0');
	if (strbuf_error(&text) < 0)
		return -ENOMEM;
	return page(userdata, time_s, text.data, text.len - 1);
}

int prometheus_source_read(struct prometheus_source *source, double now_s, prometheus_page_fn *page,
			   void *userdata, struct diag *diag)
{
	double times[SCRAPES_MAX];
	char text[1024];
	int r = 0;

	if (isnan(source->last_s)) {
		source->last_s = now_s;
		return 0;
	}
	(void)snprintf(text, sizeof(text), "{" METRICS "%s%s}[%.0fs]", *source->selector ? "," : "",
		       source->selector, ceil(now_s - source->last_s) + MARGIN_S);
	CLEANUP(cleanup_json) json_t *result = query(source, text, now_s, &r, diag);
	if (!result)
		return r < 0 ? r : diag_set(diag, -EPROTO, "the Prometheus has no result");
	size_t count = find_times(result, source->last_s, times);
	for (size_t i = 0; i < count; i++) {
		r = hand_out(source, result, times[i], page, userdata);
		if (r < 0)
			return r;
		source->last_s = times[i];
	}
	return (int)count;
}
