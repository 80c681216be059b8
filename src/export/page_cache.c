// SPDX-License-Identifier: Apache-2.0
/*
 * One page for each (exposition, encoding), rendered when somebody asks for it and the snapshot is
 * newer than the page.
 *
 * A page is counted: the cache holds one reference, each answer under way another. A new body is
 * written over the old one when nobody else holds it; else it goes into a spare or a new page, and
 * a slow reader keeps the bytes it began with. So as a rule there is one buffer for each kind of
 * page, at the size that the last body needed.
 *
 * `lock` is held while a page is made, so that of several askers one renders and the others wait
 * for it; dropping a reference takes only `spare_lock`, which nobody holds for long.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/macro.h"
#include "export/gzip_body.h"
#include "export/prometheus.h"

enum encoding { ENCODING_IDENTITY, ENCODING_GZIP, ENCODING_COUNT };
#define EXPOSITION_COUNT 2
#define SPARE_MAX        2

struct page {
	struct page_cache *cache;
	unsigned references; /* atomic */
	uint64_t sequence;   /* of the snapshot it shows; 0: nothing yet */
	struct strbuf body;
};

struct page_cache {
	struct snapshot_holder *holder;
	pthread_mutex_t lock;
	enum metrics_schema schema;
	const struct http_server *http;
	struct label_cache *labels;
	struct page *pages[EXPOSITION_COUNT][ENCODING_COUNT];
	pthread_mutex_t spare_lock;
	struct page *spares[SPARE_MAX];
};

int page_cache_new(struct snapshot_holder *holder, enum metrics_schema schema,
		   struct page_cache **ret)
{
	CLEANUP_FREE struct page_cache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return -ENOMEM;
	r = label_cache_new(&cache->labels);
	if (r < 0)
		return r;
	cache->holder = holder;
	cache->schema = schema;
	(void)pthread_mutex_init(&cache->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_mutex_init(&cache->spare_lock, NULL);
	*ret = TAKE_PTR(cache);
	return 0;
}

static void page_free(struct page *page)
{
	if (!page)
		return;
	strbuf_release(&page->body);
	free(page);
}

void page_cache_free(struct page_cache *cache)
{
	if (!cache)
		return;
	for (int i = 0; i < EXPOSITION_COUNT; i++) {
		for (int j = 0; j < ENCODING_COUNT; j++)
			page_free(cache->pages[i][j]);
	}
	for (int i = 0; i < SPARE_MAX; i++)
		page_free(cache->spares[i]);
	label_cache_free(cache->labels);
	(void)pthread_mutex_destroy(&cache->lock);
	(void)pthread_mutex_destroy(&cache->spare_lock);
	free(cache);
}

void page_cache_set_schema(struct page_cache *cache, enum metrics_schema schema)
{
	pthread_mutex_lock(&cache->lock);
	if (cache->schema != schema) {
		cache->schema = schema;
		for (int i = 0; i < EXPOSITION_COUNT; i++) {
			for (int j = 0; j < ENCODING_COUNT; j++) {
				if (cache->pages[i][j])
					cache->pages[i][j]->sequence = 0;
			}
		}
	}
	pthread_mutex_unlock(&cache->lock);
}

void page_cache_set_http(struct page_cache *cache, const struct http_server *server)
{
	pthread_mutex_lock(&cache->lock);
	cache->http = server;
	pthread_mutex_unlock(&cache->lock);
}

static struct page *page_ref(struct page *page)
{
	__atomic_fetch_add(&page->references, 1, __ATOMIC_RELAXED);
	return page;
}

static void page_unref(void *owner)
{
	struct page *page = owner;
	struct page_cache *cache = page->cache;

	if (__atomic_sub_fetch(&page->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	pthread_mutex_lock(&cache->spare_lock);
	for (int i = 0; i < SPARE_MAX && page; i++) {
		if (!cache->spares[i])
			cache->spares[i] = TAKE_PTR(page);
	}
	pthread_mutex_unlock(&cache->spare_lock);
	page_free(page);
}

/* The spare with the most memory, or a new page, with one reference; NULL without memory. */
static struct page *page_take(struct page_cache *cache)
{
	struct page *page = NULL;
	int best = 0;

	pthread_mutex_lock(&cache->spare_lock);
	for (int i = 0; i < SPARE_MAX; i++) {
		if (cache->spares[i] && (!page || cache->spares[i]->body.size > page->body.size)) {
			page = cache->spares[i];
			best = i;
		}
	}
	if (page)
		cache->spares[best] = NULL;
	pthread_mutex_unlock(&cache->spare_lock);
	if (!page)
		page = calloc(1, sizeof(*page));
	if (page) {
		page->cache = cache;
		page->references = 1;
	}
	return page;
}

/*
 * A page to write to, in its place in the cache: the one that is there if nobody reads it. Called
 * under the lock, where none can begin to.
 */
static struct page *page_for_writing(struct page_cache *cache, struct page **place)
{
	struct page *old = *place;

	if (old && __atomic_load_n(&old->references, __ATOMIC_ACQUIRE) == 1) {
		old->sequence = 0;
		return old;
	}
	*place = page_take(cache);
	if (*place)
		(*place)->sequence = 0;
	if (old)
		page_unref(old);
	return *place;
}

/* After a burst of series a buffer may be far too big for what is left of them. */
static void trim(struct strbuf *body)
{
	size_t last = body->len;

	if (body->size > 1 << 20 && body->size / 8 > last)
		strbuf_release(body);
	strbuf_reset(body);
	(void)strbuf_reserve(body, last); /* for one growth instead of many; failing shows later */
	body->failed = false;
}

static struct page *identity_page(struct page_cache *cache, const struct snapshot *snapshot,
				  enum exposition exposition)
{
	struct page **place = &cache->pages[exposition][ENCODING_IDENTITY];
	struct http_stats stats;
	struct page *page = *place;

	if (page && page->sequence >= snapshot->sequence)
		return page;
	page = page_for_writing(cache, place);
	if (!page)
		return NULL;
	trim(&page->body);
	if (cache->http)
		http_server_get_stats(cache->http, &stats);
	if (prometheus_render(snapshot, cache->http ? &stats : NULL, cache->schema, exposition,
			      cache->labels, &page->body) < 0) {
		strbuf_release(&page->body);
		return NULL;
	}
	page->sequence = snapshot->sequence;
	return page;
}

static struct page *gzip_page(struct page_cache *cache, const struct snapshot *snapshot,
			      enum exposition exposition)
{
	struct page **place = &cache->pages[exposition][ENCODING_GZIP];
	struct page *page = *place, *identity;

	if (page && page->sequence >= snapshot->sequence)
		return page;
	identity = identity_page(cache, snapshot, exposition);
	if (!identity)
		return NULL;
	page = page_for_writing(cache, place);
	if (!page)
		return NULL;
	if (gzip_body(identity->body.data, identity->body.len, &page->body) < 0) {
		strbuf_release(&page->body);
		return NULL;
	}
	page->sequence = identity->sequence;
	return page;
}

/* A page with a reference of the caller's, or NULL without memory. */
static struct page *page_get(struct page_cache *cache, const struct snapshot *snapshot,
			     enum exposition exposition, bool gzip)
{
	struct page *page;

	pthread_mutex_lock(&cache->lock);
	page = gzip ? gzip_page(cache, snapshot, exposition)
		    : identity_page(cache, snapshot, exposition);
	if (page)
		page_ref(page);
	pthread_mutex_unlock(&cache->lock);
	return page;
}

static void answer_later(struct http_response *response, const char *text)
{
	*response = (struct http_response){ .status = 503,
					    .content_type = "text/plain; charset=utf-8",
					    .body = text,
					    .len = strlen(text),
					    .retry_after_s = 1 };
}

void page_cache_handle_metrics(void *userdata, const struct http_request *request,
			       struct http_response *response)
{
	struct page_cache *cache = userdata;
	enum exposition exposition = prometheus_negotiate(request->accept);
	const struct snapshot *snapshot = snapshot_get(cache->holder);
	struct page *page;

	if (!snapshot) {
		answer_later(response, "no reading yet\n");
		return;
	}
	page = page_get(cache, snapshot, exposition, request->accepts_gzip);
	snapshot_put(cache->holder, snapshot);
	if (!page) {
		answer_later(response, "out of memory\n");
		return;
	}
	*response = (struct http_response){
		.status = 200,
		.content_type = prometheus_content_type(exposition),
		.content_encoding = request->accepts_gzip ? "gzip" : NULL,
		.body = page->body.data,
		.len = page->body.len,
		.release = page_unref,
		.owner = page,
	};
}
