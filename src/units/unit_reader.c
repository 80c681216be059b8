// SPDX-License-Identifier: Apache-2.0
#include "units/unit_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "net/http_url.h"

#define CONNECT_MS 1000
#define POD_MS     2000
#define QUERY_MS   5000
/* Other forms have exemplars, or are binary. */
#define ACCEPT_TEXT "text/plain;version=0.0.4;q=1,text/plain;q=0.5"

static int copy_text(char **ret, const char *text)
{
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static int open_pods(struct unit_reader *reader, struct diag *diag)
{
	/* Pods are on this node: no proxy is between, and no secret is sent to them. */
	const struct http_client_options client = { .user_agent = "kepler",
						    .cancel_fd = reader->cancel_fd };
	struct pod_selector selectors[UNITS_MAX];
	int r;

	for (uint32_t i = 0; i < reader->rule_count; i++)
		selectors[i] = reader->rules[i].pods;
	r = pod_addresses_new(selectors, reader->rule_count, &reader->addresses);
	if (r < 0)
		return r;
	reader->pods = calloc(POD_ADDRESSES_MAX, sizeof(*reader->pods));
	return reader->pods ? http_client_new(&client, &reader->pod_client, diag) : -ENOMEM;
}

static int open_queries(struct unit_reader *reader, struct diag *diag)
{
	const struct http_client_options client = {
		.ca_file = *reader->ca_file ? reader->ca_file : NULL,
		.user_agent = "kepler",
		.environment_proxy = true,
		.cancel_fd = reader->cancel_fd,
	};

	return http_client_new(&client, &reader->query_client, diag);
}

int unit_reader_open(struct unit_reader *reader, const struct units_options *options, int cancel_fd,
		     struct diag *diag)
{
	bool has_pods = false, has_queries = false;
	int r = 0;

	*reader = (struct unit_reader){ .cancel_fd = cancel_fd };
	for (size_t i = 0; i < options->rule_count; i++) {
		r = unit_rule_parse(options->rules[i], &reader->rules[i], diag);
		if (r < 0)
			return r;
		reader->rule_count++;
		has_pods |= !reader->rules[i].url[0];
		has_queries |= reader->rules[i].url[0] != '\0';
	}
	if (copy_text(&reader->key_file, options->key_file) < 0 ||
	    copy_text(&reader->ca_file, options->ca_file) < 0)
		return -ENOMEM;
	if (has_pods)
		r = open_pods(reader, diag);
	if (r == 0 && has_queries)
		r = open_queries(reader, diag);
	return r;
}

void unit_reader_close(struct unit_reader *reader)
{
	http_client_free(reader->pod_client);
	http_client_free(reader->query_client);
	unit_targets_release(&reader->targets);
	unit_page_release(&reader->page);
	pod_addresses_unref(reader->addresses);
	free(reader->pods);
	free(reader->here.hashes);
	free(reader->key_file);
	free(reader->ca_file);
}

static void count_failure(struct unit_reader *reader, uint32_t unit, const char *where,
			  const struct diag *diag)
{
	struct unit_health *round = &reader->round[unit];
	const char *behind = strncmp(diag->text, where, strlen(where)) == 0 ? "" : ": ";

	round->reads++;
	round->failures++;
	(void)snprintf(round->error, sizeof(round->error), "%.100s%s%.140s", *behind ? where : "",
		       behind, diag->text);
}

/* ---- pods ---- */

static int add_page(void *userdata, const char *bytes, size_t len)
{
	return unit_page_add(userdata, bytes, len);
}

static int get_page(struct unit_reader *reader, const struct unit_target *target,
		    uint64_t timeout_ms, struct diag *diag)
{
	const struct unit_rule *rule = &reader->rules[target->unit];
	bool is_v6 = strchr(target->address, ':');
	char url[UNIT_PATH_MAX + POD_ADDRESS_TEXT_MAX + 32];
	struct http_request_options request = {
		.url = url,
		.accept = ACCEPT_TEXT,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = timeout_ms,
		.max_bytes = UNIT_PAGE_MAX,
	};
	struct http_reply reply;
	int r;

	(void)snprintf(url, sizeof(url), "http://%s%s%s:%u%s", is_v6 ? "[" : "", target->address,
		       is_v6 ? "]" : "", rule->port, rule->path);
	unit_page_begin(&reader->page, rule);
	r = http_client_get(reader->pod_client, &request, add_page, &reader->page, &reply, diag);
	if (r == 0 && reply.status != 200)
		r = diag_set(diag, -EIO, "HTTP %d at port %u%s", reply.status, rule->port,
			     rule->path);
	return r;
}

static int read_pod(struct unit_reader *reader, struct unit_target *target, uint64_t timeout_ms)
{
	struct diag diag = { "" };
	char where[POD_NAMESPACE_MAX + POD_NAME_MAX + 8];
	int r = get_page(reader, target, timeout_ms, &diag);

	if (r == -ECANCELED)
		return r;
	unit_series_begin(&target->series);
	if (r == 0)
		r = unit_page_end(&reader->page, &target->series, &diag);
	if (r == 0) {
		r = unit_target_end(target);
		if (r < 0)
			(void)unit_series_fault(r, &diag);
	}
	if (r < 0) {
		(void)snprintf(where, sizeof(where), "pod %s/%s", target->namespace_, target->name);
		count_failure(reader, target->unit, where, &diag);
		unit_target_fail(target);
		return 0;
	}
	reader->round[target->unit].reads++;
	reader->round[target->unit].pods++;
	return 0;
}

static uint32_t units_of_pods(const struct unit_reader *reader)
{
	uint32_t units = 0;

	for (uint32_t i = 0; i < reader->rule_count; i++)
		units |= reader->rules[i].url[0] ? 0 : 1U << i;
	return units;
}

static int read_pods(struct unit_reader *reader, uint64_t end_ns)
{
	uint32_t units = units_of_pods(reader);
	size_t count = pod_addresses_copy(reader->addresses, reader->pods, &reader->pods_beyond);
	int r = 0;

	unit_targets_put_pods(&reader->targets, reader->pods, count);
	unit_targets_prune(&reader->targets, units);
	for (size_t i = 0; i < reader->targets.count && r == 0; i++) {
		struct unit_target *target = &reader->targets.targets[i];
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns) / NSEC_PER_MSEC : 0;

		if (!(units & 1U << target->unit) || !unit_target_is_due(target))
			continue;
		if (left_ms == 0) { /* it comes in another order next time: the slow ones pause */
			count_failure(reader, target->unit, "the round",
				      &(struct diag){ "other pods took all of its 10 s" });
			continue;
		}
		r = read_pod(reader, target, left_ms < POD_MS ? left_ms : POD_MS);
	}
	return r;
}

/* ---- a Prometheus ---- */

static int add_answer(void *userdata, const char *bytes, size_t len)
{
	strbuf_add(userdata, bytes, len);
	return strbuf_error(userdata);
}

static void clear_secret(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
}

static int ask(struct unit_reader *reader, const struct unit_rule *rule, struct strbuf *answer,
	       struct diag *diag)
{
	CLEANUP(clear_secret) char *key = NULL;
	char url[UNIT_URL_MAX + 3 * UNIT_QUERY_MAX + 128];
	struct http_request_options request = {
		.url = url,
		.accept = "application/json",
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = QUERY_MS,
		.max_bytes = UNIT_ANSWER_MAX,
	};
	struct http_reply reply;
	int r = unit_answer_url(rule, (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC), url,
				sizeof(url));

	if (r < 0)
		return diag_set(diag, r, "the query is too long");
	if (*reader->key_file) {
		r = secret_file_read(reader->key_file, &key, diag);
		request.bearer_token = key;
	}
	if (r == 0)
		r = http_client_get(reader->query_client, &request, add_answer, answer, &reply,
				    diag);
	/* 400 and 422 come with a text in the form of an answer. */
	if (r == 0 && reply.status != 200 && reply.status != 400 && reply.status != 422)
		r = diag_set(diag, -EIO, "%.*s answered HTTP %d", http_url_site_len(rule->url),
			     rule->url, reply.status);
	return r;
}

static int read_query(struct unit_reader *reader, uint32_t unit)
{
	const struct unit_rule *rule = &reader->rules[unit];
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	char where[160];
	struct diag diag = { "" };
	int r = ask(reader, rule, &answer, &diag);

	if (r == -ECANCELED)
		return r;
	if (r == 0)
		r = unit_answer_read(answer.data ? answer.data : "", answer.len, unit,
				     &reader->here, &reader->targets, &diag);
	if (r < 0) {
		(void)snprintf(where, sizeof(where), "%.*s", http_url_site_len(rule->url),
			       rule->url);
		count_failure(reader, unit, where, &diag);
		return 0;
	}
	unit_targets_prune(&reader->targets, 1U << unit);
	reader->round[unit].reads++;
	for (size_t i = 0; i < reader->targets.count; i++)
		reader->round[unit].pods += reader->targets.targets[i].unit == unit &&
					    reader->targets.targets[i].is_read;
	return 0;
}

int unit_reader_round(struct unit_reader *reader)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + UNIT_ROUND_NS;
	int r = 0;

	memset(reader->round, 0, sizeof(reader->round));
	unit_targets_begin(&reader->targets);
	if (reader->addresses)
		r = read_pods(reader, end_ns);
	for (uint32_t i = 0; i < reader->rule_count && r == 0; i++) {
		if (reader->rules[i].url[0])
			r = read_query(reader, i);
	}
	return r;
}
