// SPDX-License-Identifier: Apache-2.0
/*
 * The API server: a list of this node's pods, then a watch from the list's resourceVersion, renewed
 * for ever from the last version in an event or a bookmark.
 *
 * The first list may come from the server's cache (resourceVersion=0: cheap for it). When a version
 * has become too old (410, in either form), everything is listed again, once and at once, and this
 * time not from the cache, which may be older. Any further 410 before a watch has lasted is an
 * ordinary fault.
 *
 * A watch that had begun and then ends early (cut, reset, silent, too slow) is resumed after a
 * second or two, and the source counts as reachable meanwhile. For a watch that lasts no longer
 * than a fault's wait this is done only once in a row, then it is a fault. Where lists succeed and
 * watches fail, a list after a fault's wait is followed by another wait. So there is never a busy
 * loop, whatever a watch sends first: "lasted" refers to its duration, not to its events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "kube/kube_state.h"
#include "kube/watch.h"

#define PAGE_PODS          100
#define PAGES_MAX          1000 /* a correct server does not continue for ever */
#define WATCH_FAILURES_MAX 5

static void add_escaped(struct strbuf *url, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c))
			strbuf_add_char(url, *text);
		else
			strbuf_add(url, (const char[]){ '%', hex[c >> 4], hex[c & 15] }, 3);
	}
}

static void begin_url(const struct kube *kube, struct strbuf *url)
{
	strbuf_add_str(url, kube->access.server);
	strbuf_add_str(url, "/api/v1/pods?fieldSelector=spec.nodeName%3D");
	add_escaped(url, kube->node_name);
}

/* ---- list ---- */

static int list_page(struct kube *kube, const char *next, struct pod_list_page *page,
		     struct kube_fault *fault)
{
	struct strbuf url = STRBUF_INIT;
	int r;

	begin_url(kube, &url);
	strbuf_addf(&url, "&limit=%d", PAGE_PODS);
	if (*next) {
		strbuf_add_str(&url, "&continue=");
		add_escaped(&url, next);
	} else if (!kube->apiserver.expired) {
		strbuf_add_str(&url, "&resourceVersion=0");
	}
	r = strbuf_error(&url);
	if (r == 0)
		r = kube_list(kube, "apiserver", kube->apiserver_client, url.data, page, fault);
	strbuf_release(&url);
	if (r == 0 && page->status != 200)
		r = page->status == 410 ? -ESTALE : -EIO;
	return r;
}

/* 0; -ESTALE: 410; else -errno. */
static int list_all(struct kube *kube, struct kube_fault *fault)
{
	char *next = strdup("");
	int r = next ? 0 : -ENOMEM;

	pod_table_begin(&kube->table);
	for (unsigned pages = 0; r == 0; pages++) {
		struct pod_list_page page = { 0 };
		bool last;

		if (pages == PAGES_MAX) {
			kube_note_failure(kube, "apiserver", "the list has too many pages");
			r = -EPROTO;
			break;
		}
		r = list_page(kube, next, &page, fault);
		if (r < 0)
			break;
		free(next);
		next = TAKE_PTR(page.next);
		last = !*next;
		if (last)
			(void)snprintf(kube->apiserver.resource_version,
				       sizeof(kube->apiserver.resource_version), "%s",
				       page.resource_version);
		pod_list_page_release(&page);
		if (last)
			break;
	}
	free(next);
	if (r == 0)
		pod_table_end(&kube->table, clock_ns(CLOCK_BOOTTIME));
	return r;
}

/* ---- watch ---- */

struct watcher {
	struct kube *kube;
	struct kube_fault *fault;
	struct watch watch;
	int status;
	int error_code;       /* of an ERROR event */
	uint64_t idle_ns;     /* when the next event must have begun */
	uint64_t deadline_ns; /* that, or when the one that has begun must have ended */
};

static int take_error(struct watcher *watcher, const struct watch_event *event)
{
	char why[256];

	watcher->error_code = event->code ? event->code : 500;
	if (watcher->error_code != 410) {
		(void)snprintf(why, sizeof(why), "watch: %d: %.200s", event->code, event->message);
		kube_note_failure(watcher->kube, "apiserver", why);
	}
	return -ESTALE;
}

static void take_event_pod(struct kube *kube, const struct watch_event *event)
{
	const char *uid = json_string_value(
		json_object_get(json_object_get(event->object, "metadata"), "uid"));

	if (event->type == WATCH_PUT)
		kube_take_pod(kube, event->object, NULL, 0);
	else if (uid)
		pod_table_remove(&kube->table, uid, clock_ns(CLOCK_BOOTTIME));
	kube_count(kube, &kube->stats.events);
}

static int take_event(void *userdata, const struct watch_event *event)
{
	struct watcher *watcher = userdata;
	struct kube *kube = watcher->kube;

	if (event->type == WATCH_ERROR)
		return take_error(watcher, event);
	if (watcher->status != 200)
		return 0; /* a line of an error page */
	if (event->type == WATCH_BAD)
		kube_count(kube, &kube->stats.bad_pods);
	else if (event->object)
		take_event_pod(kube, event);
	if (*event->resource_version &&
	    strlen(event->resource_version) < sizeof(kube->apiserver.resource_version))
		(void)snprintf(kube->apiserver.resource_version,
			       sizeof(kube->apiserver.resource_version), "%s",
			       event->resource_version);
	kube_note_success(kube, "apiserver");
	backoff_succeeded(&kube->backoff);
	return 0;
}

static uint64_t request_end_ns(const struct kube *kube)
{
	return clock_ns(CLOCK_MONOTONIC) + kube->timing.request * NSEC_PER_MSEC;
}

static void expect_event(struct watcher *watcher)
{
	watcher->idle_ns =
		clock_ns(CLOCK_MONOTONIC) + watcher->kube->timing.watch_idle * NSEC_PER_MSEC;
	watcher->deadline_ns = watcher->idle_ns;
}

/* Sets the deadline after data that began or ended an event (@news), or continued one. */
static void set_deadline(struct watcher *watcher, bool news)
{
	if (!watch_is_within_line(&watcher->watch))
		watcher->deadline_ns = watcher->idle_ns;
	else if (news)
		watcher->deadline_ns = request_end_ns(watcher->kube);
}

static void take_watch_status(void *userdata, int status)
{
	struct watcher *watcher = userdata;

	watcher->status = status;
	if (status != 200) { /* an answer like others, with the time of others */
		watcher->deadline_ns = request_end_ns(watcher->kube);
		return;
	}
	watcher->fault->answered = true;
	watcher->kube->apiserver.watch_failures = 0;
	expect_event(watcher);
	kube_note_success(watcher->kube, "apiserver");
}

static int take_watch_bytes(void *userdata, const char *bytes, size_t len)
{
	struct watcher *watcher = userdata;
	bool news = !watch_is_within_line(&watcher->watch);
	uint64_t events = watcher->watch.events;
	int r = watch_feed(&watcher->watch, bytes, len);

	if (watcher->status != 200)
		return r;
	if (events != watcher->watch.events) {
		expect_event(watcher);
		news = true;
	}
	set_deadline(watcher, news);
	return r;
}

static int watch_url(const struct kube *kube, uint64_t life_s, struct strbuf *url)
{
	begin_url(kube, url);
	strbuf_add_str(url, "&watch=1&allowWatchBookmarks=true&resourceVersion=");
	add_escaped(url, kube->apiserver.resource_version);
	strbuf_add_str(url, "&timeoutSeconds=");
	strbuf_add_u64(url, life_s);
	return strbuf_error(url);
}

/* Returns true if @status rejects the request itself, and not the client or the time. */
static bool blames_request(int status)
{
	return status >= 400 && status < 500 && status != 401 && status != 403 && status != 408 &&
	       status != 429;
}

/*
 * A version that the server refuses for another reason than its age is given up in the end: it may
 * belong to a database that no longer exists. A server that is down or denies access does not prove
 * that.
 */
static void note_watch_failure(struct watcher *watcher)
{
	struct apiserver_state *state = &watcher->kube->apiserver;
	bool in_stream = watcher->status == 200 && watcher->error_code;

	if (blames_request(watcher->status))
		state->watch_failures++;
	if (in_stream || state->watch_failures >= WATCH_FAILURES_MAX) {
		state->resource_version[0] = '\0';
		state->watch_failures = 0;
	}
}

/* Judges the end of a watch with an incomplete answer, or one that ended early; else 0. */
static int judge_cut(struct watcher *watcher, int r, bool early)
{
	if (watcher->status != 200 || watcher->error_code)
		return 0;
	if (r == 0 && early)
		kube_note_failure(watcher->kube, "apiserver", "watch: it ended early");
	return early || (r < 0 && r != -ENOMEM) ? -ECONNABORTED : 0;
}

/*
 * 0: it ended at the agreed time; -ESTALE: 410; -ECONNABORTED: it worked, and was cut; else a
 * fault.
 */
static int judge_watch(struct watcher *watcher, int r, bool early)
{
	char why[64];
	int cut;

	if (r == 0)
		r = watch_end(&watcher->watch);
	if (watcher->status == 410 || watcher->error_code == 410)
		return -ESTALE;
	cut = judge_cut(watcher, r, early);
	if (cut < 0)
		return cut;
	if (r == 0 && watcher->status == 200)
		return 0;
	if (watcher->status)
		note_watch_failure(watcher);
	if (r == 0) {
		(void)snprintf(why, sizeof(why), "watch: HTTP %d", watcher->status);
		kube_note_failure(watcher->kube, "apiserver", why);
	}
	return r < 0 && r != -ESTALE ? r : -EIO;
}

static int watch_once(struct kube *kube, struct kube_fault *fault)
{
	struct apiserver_state *state = &kube->apiserver;
	uint64_t life_s = (kube->timing.watch_life + 999) / 1000;
	struct watcher watcher = { .kube = kube, .fault = fault };
	struct strbuf url = STRBUF_INIT;
	struct kube_get get = {
		.source = "apiserver",
		.client = kube->apiserver_client,
		.status = take_watch_status,
		.body = take_watch_bytes,
		.userdata = &watcher,
		.deadline_ns = &watcher.deadline_ns,
	};
	int r, status;

	life_s += muldiv_u64(life_s, kube_chance(), UINT32_MAX);
	r = watch_url(kube, life_s, &url);
	get.url = url.data;
	get.timeout_ms = life_s * 1000 + kube->timing.request;
	/* An event is an object with a small frame. */
	watch_init(&watcher.watch, kube->max_pod_bytes + 256, take_event, &watcher);
	if (r == 0)
		r = kube_get(kube, &get, &status, fault);
	strbuf_release(&url);
	if (watcher.status == 200 && fault->failure.lasted_ms >= kube->timing.retry)
		state->relisted = state->resumed = state->listed = false;
	if (!fault->stopped)
		r = judge_watch(&watcher, r, fault->failure.lasted_ms + 1000 < life_s * 1000);
	watch_release(&watcher.watch);
	return r;
}

/* ---- both ---- */

/* After a 410: 0 to list again now, -EAGAIN when that has just brought nothing. */
static int expire(struct kube *kube)
{
	bool again = kube->apiserver.relisted;

	kube->apiserver.resource_version[0] = '\0';
	kube->apiserver.expired = true;
	kube->apiserver.relisted = true;
	kube_count(kube, &kube->stats.relists);
	if (again)
		return -EAGAIN;
	kube->apiserver.listed = false;
	return 0;
}

/* After a cut: 0 to resume the watch, -EAGAIN when that has just been done. */
static int resume(struct kube *kube, struct kube_fault *fault)
{
	if (kube->apiserver.resumed)
		return -EAGAIN;
	kube->apiserver.resumed = true;
	fault->stopped = kube_wait(kube, backoff_resume(&kube->backoff, kube_chance()), false);
	return 0;
}

/* 0 when a watch may begin, or the thread must end. */
static int begin_anew(struct kube *kube, struct kube_fault *fault)
{
	bool again = kube->apiserver.listed;
	int r = list_all(kube, fault);

	if (r < 0)
		return r;
	kube->apiserver.expired = false;
	kube->apiserver.listed = true;
	fault->answered = true;
	kube_note_success(kube, "apiserver");
	backoff_succeeded(&kube->backoff);
	/* The last watch failed, and this one may: the server gets one request per wait. */
	if (again)
		fault->stopped = kube_wait(kube, kube->timing.retry, false);
	return 0;
}

static int step(struct kube *kube, struct kube_fault *fault)
{
	int r = *kube->apiserver.resource_version ? 0 : begin_anew(kube, fault);

	return r < 0 || fault->stopped ? r : watch_once(kube, fault);
}

/* Many nodes that were powered on together must not ask together. */
static bool wait_after_boot(struct kube *kube)
{
	uint64_t uptime_ms = clock_ns(CLOCK_BOOTTIME) / NSEC_PER_MSEC;
	uint64_t wait_ms = backoff_first(uptime_ms, kube->timing.boot_window,
					 kube->timing.boot_spread, kube_chance());

	if (kube->apiserver.asked)
		return false;
	kube->apiserver.asked = true;
	return wait_ms && kube_wait(kube, wait_ms, false);
}

void apiserver_run(struct kube *kube, struct kube_fault *fault)
{
	int r = 0;

	fault->stopped = wait_after_boot(kube);
	while (r == 0 && !fault->stopped) {
		fault->failure = (struct backoff_failure){ 0 };
		r = step(kube, fault);
		if (r == -ESTALE && !fault->stopped)
			r = expire(kube);
		if (r == -ECONNABORTED && !fault->stopped)
			r = resume(kube, fault);
	}
}
