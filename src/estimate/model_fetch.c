// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_fetch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "config/model_url.h"
#include "estimate/model_cache.h"
#include "estimate/model_client.h"
#include "net/backoff.h"

#define STACK_BYTES      (1U << 20)
#define STOP_PATIENCE_NS (2 * NSEC_PER_SEC)
#define RETRY_MS         10000
#define RETRY_MAX_MS     600000

struct model_fetch {
	char *url, *ca_file, *token_file, *public_key, *state_dir;
	uint64_t refresh_ns;
	struct model_wish wish;
	void (*start_thread)(void);
	/* The thread's: */
	struct model_client client;
	struct backoff backoff;
	struct fetched_model held; /* the last good one */
	int stop_fd;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t progress;
	struct trained_model model; /* to be taken */
	bool has_model, has_asked;
	uint64_t good_ns; /* MONOTONIC; 0 never */
	struct model_fetch_stats stats;
};

static int ask(struct model_fetch *fetch, const struct model_request *request,
	       struct model_reply *ret, struct diag *diag)
{
	int r = model_client_ask(&fetch->client, request, ret, diag);

	(void)pthread_mutex_lock(&fetch->lock);
	fetch->stats.requests += ret->connected;
	(void)pthread_mutex_unlock(&fetch->lock);
	return r;
}

/* ---- what came ---- */

static int read_model(const struct fetched_model *fetched, const char *name,
		      struct trained_model *ret, struct diag *diag)
{
	int r = trained_model_parse(ret, name, fetched->text, fetched->len, diag);

	if (r < 0)
		return r;
	if (fetched->output == MODEL_DYN_POWER)
		ret->output = MODEL_DYN_POWER; /* weights of upstream's API do not say it */
	if (fetched->offer)
		model_offer_complete(fetched->offer, fetched->offer_len, ret);
	r = trained_model_check(ret, diag);
	if (r < 0)
		trained_model_release(ret);
	return r;
}

/* Takes @model over. */
static void hand_over(struct model_fetch *fetch, struct trained_model *model)
{
	struct model_fetch_stats *stats = &fetch->stats;

	(void)pthread_mutex_lock(&fetch->lock);
	trained_model_release(&fetch->model); /* that was not taken yet */
	fetch->model = *model;
	fetch->has_model = true;
	(void)snprintf(stats->model, sizeof(stats->model), "%s", model->name);
	(void)pthread_mutex_unlock(&fetch->lock);
}

static void note_cache(struct model_fetch *fetch, int r, const struct diag *diag)
{
	(void)pthread_mutex_lock(&fetch->lock);
	(void)snprintf(fetch->stats.cache_error, sizeof(fetch->stats.cache_error), "%s",
		       r < 0 && r != -ENOENT ? diag->text : "");
	(void)pthread_mutex_unlock(&fetch->lock);
}

/*
 * A good model becomes the one that is held. Takes the content of @fetched over, unless it fails.
 */
static int take_model(struct model_fetch *fetch, struct fetched_model *fetched, const char *name,
		      struct diag *diag)
{
	struct trained_model model;
	struct diag cache = { "" };
	int r = read_model(fetched, name, &model, diag);

	if (r < 0) {
		(void)pthread_mutex_lock(&fetch->lock);
		fetch->stats.refused++;
		(void)pthread_mutex_unlock(&fetch->lock);
		return r;
	}
	hand_over(fetch, &model);
	fetched_model_release(&fetch->held);
	fetch->held = *fetched;
	*fetched = (struct fetched_model){ 0 };
	if (fetch->state_dir[0])
		note_cache(fetch,
			   model_cache_save(fetch->state_dir, fetch->url, &fetch->held, &cache),
			   &cache);
	return 0;
}

static char *take_text(struct strbuf *body, size_t *ret_len)
{
	char *text = body->data;

	*ret_len = body->len;
	*body = STRBUF_INIT;
	return text;
}

static int refuse(struct model_fetch *fetch, int err)
{
	(void)pthread_mutex_lock(&fetch->lock);
	fetch->stats.refused++;
	(void)pthread_mutex_unlock(&fetch->lock);
	return err;
}

static bool is_same(const struct fetched_model *held, const struct strbuf *body)
{
	return held->text && held->len == body->len &&
	       memcmp(held->text, body->data, body->len) == 0;
}

/* The model is the whole answer: of a file's URL, or of upstream's server, as it was @asked. */
static int take_answer(struct model_fetch *fetch, struct model_reply *answer,
		       enum model_output asked, struct diag *diag)
{
	struct fetched_model fetched = { .output = asked };
	int r;

	if (answer->status == 304 && fetch->held.text)
		return 0;
	if (answer->status != 200)
		return model_reply_refuse(answer, fetch->url, diag);
	if (fetch->public_key[0])
		return refuse(fetch, diag_set(diag, -EKEYREJECTED,
					      "%.150s: has no signature, but model.public-key "
					      "requires one: only a model server with the second "
					      "API provides it",
					      fetch->url));
	if (!answer->body.len)
		return refuse(fetch, diag_set(diag, -EPROTO, "%.150s: is empty", fetch->url));
	if (is_same(&fetch->held, &answer->body))
		return 0;
	memcpy(fetched.etag, answer->etag, sizeof(fetched.etag));
	fetched.text = take_text(&answer->body, &fetched.len);
	r = take_model(fetch, &fetched, fetch->url, diag);
	fetched_model_release(&fetched);
	return r;
}

static int fetch_file(struct model_fetch *fetch, struct backoff_failure *failure, struct diag *diag)
{
	const struct model_request request = { fetch->url, fetch->held.etag, NULL, MODEL_FILE_MAX };
	CLEANUP(model_reply_release) struct model_reply answer = { 0 };
	int r = ask(fetch, &request, &answer, diag);

	*failure = answer.failure;
	return r < 0 ? r : take_answer(fetch, &answer, MODEL_ABS_POWER, diag);
}

/* ---- a model server ---- */

/*
 * @said is the second API's 404: it does not exist, or no model fits. Upstream's API is asked then,
 * unless its answer could not be used before: its models have no signature, and it ignores the
 * URL's arguments. The reported error has the reason of the second API, which is more precise.
 * -ENODATA: neither has a model.
 */
static int fetch_from_upstream(struct model_fetch *fetch, const struct model_reply *said,
			       struct backoff_failure *failure, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(model_reply_release) struct model_reply answer = { 0 };
	struct model_request request = { .max_bytes = MODEL_FILE_MAX };
	struct diag why = { "" };
	int r;

	(void)model_reply_refuse(said, fetch->url, &why);
	if (fetch->public_key[0] || strchr(fetch->url, '?'))
		return diag_set(diag, -ENODATA,
				"%.380s; POST /model is not asked: its models have no signature, "
				"and it takes no arguments",
				why.text);
	model_url_join(fetch->url, "/model", &url);
	model_wish_body(&fetch->wish, &body);
	if (strbuf_error(&url) < 0 || strbuf_error(&body) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	request.url = url.data;
	request.content = body.data;
	r = ask(fetch, &request, &answer, diag);
	*failure = answer.failure;
	if (r == 0 && answer.status >= 400)
		return diag_set(diag, -ENODATA, "%.440s; POST /model: HTTP %d", why.text,
				answer.status);
	return r < 0 ? r : take_answer(fetch, &answer, fetch->wish.output, diag);
}

static int check_file(const struct model_fetch *fetch, const struct model_offer *offer,
		      const char *file, size_t size, struct diag *diag)
{
	struct diag why = { "" };
	int r = 0;

	if (size != offer->size)
		return diag_set(diag, -EBADMSG,
				"%.150s: it has %zu bytes, but the server announced %llu",
				offer->path, size, (unsigned long long)offer->size);
	r = model_proof_check_sum(file, size, offer->sha256, &why);
	if (r == 0 && fetch->public_key[0] && !offer->signature[0])
		r = diag_set(&why, -EKEYREJECTED,
			     "it is not signed: the server needs --models.signing-key");
	else if (r == 0 && fetch->public_key[0])
		r = model_proof_check_signature(file, size, offer->signature, fetch->public_key,
						&why);
	return r < 0 ? diag_set(diag, r, "%.150s: %.300s", offer->path, why.text) : 0;
}

static int fetch_offered(struct model_fetch *fetch, const struct model_offer *offer,
			 struct model_reply *said, struct backoff_failure *failure,
			 struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	CLEANUP(model_reply_release) struct model_reply answer = { 0 };
	struct model_request request = { .max_bytes = MODEL_FILE_MAX };
	struct fetched_model fetched = { 0 };
	int r;

	model_url_join(fetch->url, offer->path, &url);
	if (strbuf_error(&url) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	request.url = url.data;
	r = ask(fetch, &request, &answer, diag);
	*failure = answer.failure;
	if (r < 0)
		return r;
	if (answer.status != 200)
		return model_reply_refuse(&answer, url.data, diag);
	r = check_file(fetch, offer, answer.body.data ? answer.body.data : "", answer.body.len,
		       diag);
	if (r < 0)
		return refuse(fetch, r);
	memcpy(fetched.etag, said->etag, sizeof(fetched.etag));
	fetched.offer = take_text(&said->body, &fetched.offer_len);
	fetched.text = take_text(&answer.body, &fetched.len);
	r = take_model(fetch, &fetched, offer->path, diag);
	fetched_model_release(&fetched);
	return r;
}

static int fetch_output(struct model_fetch *fetch, struct backoff_failure *failure,
			struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	CLEANUP(model_reply_release) struct model_reply answer = { 0 };
	struct model_request request = { .etag = fetch->held.etag, .max_bytes = MODEL_OFFER_MAX };
	struct model_offer offer;
	struct diag why = { "" };
	int r;

	model_wish_url(&fetch->wish, fetch->url, &url);
	if (strbuf_error(&url) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	request.url = url.data;
	r = ask(fetch, &request, &answer, diag);
	*failure = answer.failure;
	if (r < 0 || (answer.status == 304 && fetch->held.text))
		return r;
	if (answer.status == 404)
		return fetch_from_upstream(fetch, &answer, failure, diag);
	if (answer.status != 200)
		return model_reply_refuse(&answer, fetch->url, diag);
	r = model_offer_read(answer.body.data ? answer.body.data : "", answer.body.len, &offer,
			     &why);
	if (r < 0)
		return refuse(fetch, diag_set(diag, r, "%.150s: %.300s", fetch->url, why.text));
	return fetch_offered(fetch, &offer, &answer, failure, diag);
}

/*
 * In a virtual machine a model of power above idle is asked for first. One of the whole power of
 * such a host serves as well: its answer less that at no load.
 */
static int fetch_from_server(struct model_fetch *fetch, struct backoff_failure *failure,
			     struct diag *diag)
{
	const enum model_output wanted = fetch->wish.output;
	int r = fetch_output(fetch, failure, diag);

	if (r == -ENODATA && wanted == MODEL_DYN_POWER && !model_wish_output_is_fixed(fetch->url)) {
		fetch->wish.output = MODEL_ABS_POWER;
		r = fetch_output(fetch, failure, diag);
		fetch->wish.output = wanted;
	}
	return r == -ENODATA ? -EPROTO : r;
}

/* ---- the thread ---- */

static uint32_t chance(void)
{
	uint32_t bits = 0;

	/* Without entropy all machines wait for the shortest time. */
	return getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == (ssize_t)sizeof(bits) ? bits : 0;
}

static bool wait_for_stop(const struct model_fetch *fetch, uint64_t ms)
{
	struct pollfd stop = { .fd = fetch->stop_fd, .events = POLLIN };

	return poll(&stop, 1, ms < INT32_MAX ? (int)ms : INT32_MAX) > 0;
}

/* It is checked as it was when it came: the key may be another one now. */
static int check_cached(const struct model_fetch *fetch, const struct fetched_model *cached,
			struct trained_model *ret, struct diag *diag)
{
	struct model_offer offer = { .path = "" };
	int r = 0;

	if (cached->offer) {
		r = model_offer_read(cached->offer, cached->offer_len, &offer, diag);
		if (r == 0)
			r = check_file(fetch, &offer, cached->text, cached->len, diag);
	} else if (fetch->public_key[0]) {
		r = diag_set(diag, -EKEYREJECTED, "the cached model has no signature");
	}
	return r < 0 ? r : read_model(cached, cached->offer ? offer.path : fetch->url, ret, diag);
}

/* A cached model that cannot be used any more is as none. */
static void read_cache(struct model_fetch *fetch)
{
	struct fetched_model cached = { 0 };
	struct trained_model model;
	struct diag diag = { "" };
	int r = -ENOENT;

	if (fetch->state_dir[0])
		r = model_cache_load(fetch->state_dir, fetch->url, &cached, &diag);
	if (r == 0)
		r = check_cached(fetch, &cached, &model, &diag);
	note_cache(fetch, r, &diag);
	if (r < 0) {
		fetched_model_release(&cached);
		return;
	}
	fetch->held = cached;
	hand_over(fetch, &model);
	(void)pthread_mutex_lock(&fetch->lock);
	fetch->stats.is_cached = true;
	(void)pthread_cond_broadcast(&fetch->progress);
	(void)pthread_mutex_unlock(&fetch->lock);
}

static void note_result(struct model_fetch *fetch, int r, const struct diag *diag)
{
	struct model_fetch_stats *stats = &fetch->stats;

	(void)pthread_mutex_lock(&fetch->lock);
	fetch->has_asked = true;
	stats->up = r == 0;
	stats->failures += r < 0;
	stats->last_error[0] = '\0';
	if (r == 0) {
		stats->is_cached = false;
		fetch->good_ns = clock_ns(CLOCK_MONOTONIC);
	} else {
		(void)snprintf(stats->last_error, sizeof(stats->last_error), "%s", diag->text);
	}
	(void)pthread_cond_broadcast(&fetch->progress);
	(void)pthread_mutex_unlock(&fetch->lock);
}

/* A bad model is the publisher's to correct, like a denial. */
static uint64_t wait_after(struct model_fetch *fetch, int r, struct backoff_failure *failure)
{
	uint64_t refresh_ms = fetch->refresh_ns / NSEC_PER_MSEC;

	if (r == 0) {
		backoff_succeeded(&fetch->backoff);
		return refresh_ms + muldiv_u64(refresh_ms / 10, chance(), UINT32_MAX);
	}
	if (failure->kind == BACKOFF_FAILED && r != -EPROTO && r != -ETIMEDOUT && r != -EIO)
		failure->kind = BACKOFF_DENIED;
	return backoff_failed(&fetch->backoff, failure, chance());
}

static void *thread_main(void *userdata)
{
	struct model_fetch *fetch = userdata;

	if (fetch->start_thread)
		fetch->start_thread();
	read_cache(fetch);
	for (;;) {
		struct backoff_failure failure = { .kind = BACKOFF_FAILED };
		struct diag diag = { "" };
		int r = model_url_is_file(fetch->url) ? fetch_file(fetch, &failure, &diag)
						      : fetch_from_server(fetch, &failure, &diag);

		if (r == -ECANCELED)
			return NULL;
		note_result(fetch, r, &diag);
		if (wait_for_stop(fetch, wait_after(fetch, r, &failure)))
			return NULL;
	}
}

/* ---- for the program ---- */

static void release(struct model_fetch *fetch)
{
	model_client_close(&fetch->client);
	fetched_model_release(&fetch->held);
	trained_model_release(&fetch->model);
	free(fetch->url);
	free(fetch->ca_file);
	free(fetch->token_file);
	free(fetch->public_key);
	free(fetch->state_dir);
	cleanup_fd(&fetch->stop_fd);
	(void)pthread_cond_destroy(&fetch->progress);
	(void)pthread_mutex_destroy(&fetch->lock);
	free(fetch);
}

static int make_client(struct model_fetch *fetch, struct diag *diag)
{
	const struct http_client_options options = {
		.ca_file = fetch->ca_file[0] ? fetch->ca_file : NULL,
		.user_agent = "kepler",
		.environment_proxy = true,
		.cancel_fd = fetch->stop_fd,
	};
	int r = model_proof_load(diag);

	if (r == 0 || model_url_is_file(fetch->url))
		r = model_client_open(&fetch->client, &options, fetch->token_file, fetch->url,
				      diag);
	return r;
}

static int prepare(struct model_fetch *fetch, const struct model_fetch_options *options,
		   struct diag *diag)
{
	static const struct backoff_limits retries = {
		.refused_min_ms = RETRY_MS / 2,
		.refused_max_ms = RETRY_MS,
		.resume_ms = RETRY_MS / 10,
		.retry_ms = RETRY_MS,
		.spread_ms = RETRY_MS / 5,
		.denied_max_ms = RETRY_MAX_MS,
	};

	fetch->url = strdup(options->url);
	fetch->ca_file = strdup(options->ca_file);
	fetch->token_file = strdup(options->token_file);
	fetch->public_key = strdup(options->public_key);
	fetch->state_dir = strdup(options->state_dir);
	if (!fetch->url || !fetch->ca_file || !fetch->token_file || !fetch->public_key ||
	    !fetch->state_dir)
		return diag_set(diag, -ENOMEM, "out of memory");
	fetch->refresh_ns = options->refresh_ns;
	fetch->wish = options->wish;
	fetch->start_thread = options->start_thread;
	backoff_init(&fetch->backoff, &retries);
	fetch->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fetch->stop_fd < 0)
		return diag_set(diag, -errno, "no descriptor: %s", strerror(errno));
	return make_client(fetch, diag);
}

int model_fetch_start(const struct model_fetch_options *options, struct model_fetch **ret,
		      struct diag *diag)
{
	struct model_fetch *fetch = calloc(1, sizeof(*fetch));
	pthread_condattr_t monotonic;
	int r;

	if (!fetch)
		return diag_set(diag, -ENOMEM, "out of memory");
	fetch->stop_fd = -1;
	(void)pthread_mutex_init(&fetch->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&fetch->progress, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	r = prepare(fetch, options, diag);
	if (r == 0) {
		r = thread_start(&fetch->thread, STACK_BYTES, thread_main, fetch);
		if (r < 0)
			(void)diag_set(diag, r, "no thread: %s", strerror(-r));
	}
	if (r < 0) {
		release(fetch);
		return r;
	}
	fetch->started = true;
	*ret = fetch;
	return 0;
}

static struct timespec after(uint64_t patience_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;

	return (struct timespec){ (time_t)(end_ns / NSEC_PER_SEC), (long)(end_ns % NSEC_PER_SEC) };
}

void model_fetch_stop(struct model_fetch *fetch)
{
	if (!fetch)
		return;
	(void)eventfd_write(fetch->stop_fd, 1);
	if (thread_join_within(fetch->thread, STOP_PATIENCE_NS) == 0)
		release(fetch);
}

void model_fetch_await(struct model_fetch *fetch, uint64_t patience_ns)
{
	struct timespec end = after(patience_ns);
	int r = 0;

	(void)pthread_mutex_lock(&fetch->lock);
	while (r == 0 && !fetch->has_model && !fetch->has_asked)
		r = pthread_cond_timedwait(&fetch->progress, &fetch->lock, &end);
	(void)pthread_mutex_unlock(&fetch->lock);
}

bool model_fetch_take(struct model_fetch *fetch, struct trained_model *ret)
{
	bool has_model;

	(void)pthread_mutex_lock(&fetch->lock);
	has_model = fetch->has_model;
	if (has_model) {
		*ret = fetch->model;
		fetch->model = (struct trained_model){ 0 };
		fetch->has_model = false;
	}
	(void)pthread_mutex_unlock(&fetch->lock);
	return has_model;
}

void model_fetch_get_stats(struct model_fetch *fetch, struct model_fetch_stats *ret)
{
	(void)pthread_mutex_lock(&fetch->lock);
	*ret = fetch->stats;
	ret->age_s = fetch->good_ns ? (double)(clock_ns(CLOCK_MONOTONIC) - fetch->good_ns) / 1e9
				    : (double)NAN;
	(void)pthread_mutex_unlock(&fetch->lock);
}
