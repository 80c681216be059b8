// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by both sources: requests with the current token, classification of faults, pods,
 * statistics.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kube/json_bounded.h"
#include "kube/kube_state.h"
#include "kube/object_stream.h"
#include "kube/pods/pod_addresses.h"
#include "kube/pods/pod_prune.h"
#include "net/http_url.h"

#define ERROR_BODY_MAX 1024 /* of an answer that is not a list, for its message */

uint32_t kube_chance(void)
{
	uint32_t chance;

	/* Without entropy all nodes wait for the shortest time, which is acceptable. */
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != (ssize_t)sizeof(chance))
		chance = 0;
	return chance;
}

void kube_count_by(struct kube *kube, uint64_t *counter, uint64_t by)
{
	(void)pthread_mutex_lock(&kube->lock);
	*counter += by;
	(void)pthread_mutex_unlock(&kube->lock);
}

void kube_count(struct kube *kube, uint64_t *counter)
{
	kube_count_by(kube, counter, 1);
}

void kube_note_success(struct kube *kube, const char *source)
{
	(void)pthread_mutex_lock(&kube->lock);
	kube->stats.source = source;
	kube->stats.reachable = true;
	kube->stats.pods = kube->table.count;
	kube->last_word_ns = clock_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_unlock(&kube->lock);
	directory_set_reachable(kube->directory, DIRECTORY_KUBERNETES, true);
}

void kube_note_failure(struct kube *kube, const char *source, const char *why)
{
	(void)pthread_mutex_lock(&kube->lock);
	kube->stats.failures++;
	(void)snprintf(kube->stats.last_error, sizeof(kube->stats.last_error), "%s: %.200s", source,
		       why);
	(void)pthread_mutex_unlock(&kube->lock);
}

bool kube_wait(struct kube *kube, uint64_t ms, bool demand)
{
	struct pollfd fds[2] = {
		{ .fd = kube->stop_fd, .events = POLLIN },
		{ .fd = demand ? kube->wanted_fd : -1, .events = POLLIN },
	};

	return poll(fds, 2, ms < INT32_MAX ? (int)ms : INT32_MAX) > 0 && fds[0].revents != 0;
}

bool kube_take_demand(struct kube *kube)
{
	uint64_t asked;

	return kube->wanted_fd >= 0 && read(kube->wanted_fd, &asked, sizeof(asked)) > 0;
}

/*
 * Absent: nothing accepted the connection. A peer that accepted it and did not begin TLS has
 * failed.
 */
static bool is_absent(int r, const struct http_reply *reply)
{
	return !reply->reached && (r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -ETIMEDOUT);
}

/* It answers and refuses, or it is not the server that was expected. */
static bool is_denied(int r, const struct http_reply *reply)
{
	return r == -EACCES ||
	       (reply->status >= 400 && reply->status < 500 && reply->status != 408 &&
		reply->status != 410 && reply->status != 429);
}

static enum backoff_kind kind_of(int r, const struct http_reply *reply)
{
	if (is_absent(r, reply))
		return BACKOFF_ABSENT;
	return is_denied(r, reply) ? BACKOFF_DENIED : BACKOFF_FAILED;
}

/* Tokens are sent over https only; requests to a plain port of the kubelet have none. */
static int get_token(const struct kube *kube, const char *url, char **ret, struct diag *diag)
{
	int r;

	*ret = NULL;
	if (!http_url_is_https(url))
		return 0;
	r = kube_access_check_key(&kube->access, diag); /* whether TLS reads it now or not */
	return r == 0 ? kube_access_token(&kube->access, ret, diag) : r;
}

int kube_get(struct kube *kube, const struct kube_get *get, int *ret_status,
	     struct kube_fault *fault)
{
	struct http_request_options request = {
		.url = get->url,
		.accept = "application/json",
		.status = get->status,
		.connect_timeout_ms = kube->timing.connect,
		.answer_timeout_ms = kube->timing.request,
		.timeout_ms = get->timeout_ms,
		.deadline_ns = get->deadline_ns,
		.max_bytes = get->max_bytes,
	};
	struct http_reply reply = { 0 };
	struct diag diag = { "" };
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	char *token = NULL;
	int r;

	r = get_token(kube, get->url, &token, &diag);
	request.bearer_token = token;
	if (r == 0)
		r = http_client_get(get->client, &request, get->body, get->userdata, &reply, &diag);
	kube_token_free(token);
	if (reply.connected)
		kube_count(kube, &kube->stats.requests);
	fault->stopped = r == -ECANCELED;
	fault->failure = (struct backoff_failure){
		.kind = kind_of(r, &reply),
		.lasted_ms = (clock_ns(CLOCK_MONOTONIC) - began_ns) / NSEC_PER_MSEC,
		.retry_after_ms = reply.retry_after_ms,
	};
	if (r < 0 && r != -ESTALE && !fault->stopped)
		kube_note_failure(kube, get->source, diag.text);
	*ret_status = reply.status;
	return r;
}

/* Every pod has at least one set of names. */
static void note_address(struct kube *kube, const struct pod *pod, const json_t *object)
{
	struct map_key key = pod_digest(&kube->table.key, pod->uid, strlen(pod->uid));

	if (kube->table.addresses)
		pod_addresses_put(kube->table.addresses, key,
				  pod->containers[0].names.text[LABEL_POD_ID], object);
}

void kube_take_pod(struct kube *kube, const json_t *object, const char *text, size_t len)
{
	struct pod pod;
	int r = pod_json_read(object, &kube->labels, &pod);

	if (r == 0) {
		kube_count_by(kube, &kube->stats.bad_pods, pod.skipped);
		kube_count_by(kube, &kube->stats.labels_lost, pod.labels->lost);
		r = pod_table_put(&kube->table, &pod, text, len, clock_ns(CLOCK_BOOTTIME));
		if (r == 0)
			note_address(kube, &pod, object);
		pod_release(&pod);
	}
	if (r < 0)
		kube_count(kube, &kube->stats.bad_pods);
}

void kube_take_pod_text(struct kube *kube, const char *text, size_t len)
{
	CLEANUP_FREE char *pruned = NULL;
	json_t *object;

	if (!text) {
		kube_count(kube, &kube->stats.bad_pods);
		return;
	}
	if (pod_table_seen(&kube->table, text, len))
		return;
	pruned = malloc(len);
	object = pruned ? json_parse_bounded(pruned, pod_prune(text, len, pruned)) : NULL;
	kube_take_pod(kube, object, text, len);
	json_decref(object);
}

/* ---- lists ---- */

struct list_reader {
	struct kube *kube;
	struct object_stream stream;
	int status;
};

static int take_item(void *userdata, const char *text, size_t len)
{
	struct list_reader *reader = userdata;

	if (reader->status == 200)
		kube_take_pod_text(reader->kube, text, len);
	return 0;
}

static void take_status(void *userdata, int status)
{
	struct list_reader *reader = userdata;

	reader->status = status;
}

static int take_bytes(void *userdata, const char *bytes, size_t len)
{
	struct list_reader *reader = userdata;
	struct strbuf *rest = &reader->stream.rest;

	if (reader->status == 200)
		return object_stream_feed(&reader->stream, bytes, len);
	/* An error of the server itself or of a proxy before it, in JSON or not. */
	if (rest->len < ERROR_BODY_MAX)
		strbuf_add(rest, bytes, len < ERROR_BODY_MAX ? len : ERROR_BODY_MAX);
	return strbuf_error(rest);
}

void pod_list_page_release(struct pod_list_page *page)
{
	free(page->resource_version);
	free(page->next);
}

static char *copy_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return strdup(text ? text : "");
}

static int read_rest(const struct object_stream *stream, struct pod_list_page *page)
{
	json_t *root = json_parse_bounded(stream->rest.data, stream->rest.len);
	const json_t *metadata = json_object_get(root, "metadata");
	const char *kind = json_string_value(json_object_get(root, "kind"));
	int r = -EPROTO;

	if (kind && strcmp(kind, "PodList") == 0) {
		page->resource_version = copy_text(metadata, "resourceVersion");
		page->next = copy_text(metadata, "continue");
		r = page->resource_version && page->next ? 0 : -ENOMEM;
	}
	json_decref(root);
	return r;
}

/* "403 pods is forbidden: …" if the server sends a reason. */
static void note_refusal(struct kube *kube, const char *source, int status,
			 const struct strbuf *rest)
{
	json_t *root = json_parse_bounded(rest->data, rest->len);
	const char *message = json_string_value(json_object_get(root, "message"));
	char why[256];

	(void)snprintf(why, sizeof(why), "HTTP %d%s%.180s", status, message ? ": " : "",
		       message ? message : "");
	kube_note_failure(kube, source, why);
	json_decref(root);
}

static int finish_list(struct kube *kube, const char *source, const struct list_reader *reader,
		       struct pod_list_page *page)
{
	int r = 0;

	page->status = reader->status;
	if (page->status != 200) {
		if (page->status != 410)
			note_refusal(kube, source, page->status, &reader->stream.rest);
		return 0;
	}
	r = object_stream_end(&reader->stream);
	if (r == 0)
		r = read_rest(&reader->stream, page);
	if (r < 0)
		kube_note_failure(kube, source, "the answer is not a list of pods");
	return r;
}

int kube_list(struct kube *kube, const char *source, struct http_client *client, const char *url,
	      struct pod_list_page *ret, struct kube_fault *fault)
{
	struct list_reader reader = { .kube = kube };
	const struct kube_get get = {
		.url = url,
		.source = source,
		.client = client,
		.status = take_status,
		.body = take_bytes,
		.userdata = &reader,
		.timeout_ms = kube->timing.request,
		/* Far above any list: the limit of one pod times a thousand. */
		.max_bytes = kube->max_pod_bytes * 1024,
	};
	struct pod_list_page page = { 0 };
	int r, status;

	object_stream_init(&reader.stream, kube->max_pod_bytes, take_item, &reader);
	r = kube_get(kube, &get, &status, fault);
	if (r == 0)
		r = finish_list(kube, source, &reader, &page);
	object_stream_release(&reader.stream);
	if (r < 0) {
		pod_list_page_release(&page);
		return r;
	}
	*ret = page;
	return 0;
}
