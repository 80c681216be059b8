// SPDX-License-Identifier: Apache-2.0
/*
 * One page for each (format, encoding), rendered on request if the snapshot is newer than the page.
 *
 * The answers under way count as readers of their page. A new body overwrites the newest page if
 * that has no reader, else the one before it, so a slow reader keeps the bytes it began with: there
 * are at most two generations. If both have readers, a stuck or slow reader of the older one is
 * disconnected, and the request is tried again. Usually there is one buffer for each kind of page,
 * as large as the last body needed.
 * The rows of a namespace alone are a body in a table of a few, which is made once for each
 * snapshot, namespace, format and encoding. The table gives it up as soon as a page of a newer
 * snapshot is requested, and it is freed with its last reader.
 * `lock` is held while a page is made, so that one of several requests renders and the others wait
 * for it; dropping a reference takes no lock.
 */
#include "export/page_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "export/gzip_body.h"
#include "export/namespace_view.h"

#define NAMESPACE_BODIES 8

enum encoding { ENCODING_IDENTITY, ENCODING_GZIP, ENCODING_COUNT };

struct page {
	unsigned readers;  /* atomic; begins to be read under the cache's lock only */
	uint64_t sequence; /* of the snapshot it shows; 0: nothing yet */
	struct strbuf body;
};

/* A kind of page: the newest, and the one before, which may still have slow readers. */
struct generations {
	struct page *newest;
	struct page *before;
	struct page pages[2];
};

/* The rows of one namespace. */
struct namespace_body {
	unsigned references; /* atomic: the table's, and one of each answer */
	uint64_t used;       /* when, by the count of questions */
	size_t format;
	bool gzip;
	struct strbuf body;
	char name[];
};

struct page_cache {
	struct snapshot_holder *holder;
	pthread_mutex_t lock;
	struct page_options options;
	struct http_server *http;
	const struct page_formats *formats;
	struct label_cache *labels[PAGE_FORMATS_MAX]; /* formats of one form share theirs */
	struct generations kinds[PAGE_FORMATS_MAX][ENCODING_COUNT];
	struct namespace_body *namespaces[NAMESPACE_BODIES]; /* NULL: free */
	uint64_t namespaces_sequence;                        /* of the snapshot they show */
	uint64_t namespaces_asked;
};

/* The first format with the same form of labels as @format. */
static size_t labels_of(const struct page_cache *cache, size_t format)
{
	const struct page_format *formats = cache->formats->formats;
	size_t first = 0;

	while (formats[first].labels != formats[format].labels)
		first++;
	return first;
}

int page_cache_new(const struct page_formats *formats, struct snapshot_holder *holder,
		   const struct page_options *options, struct page_cache **ret)
{
	struct page_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->holder = holder;
	cache->formats = formats;
	cache->options = *options;
	(void)pthread_mutex_init(&cache->lock, NULL); /* cannot fail with default attributes */
	for (size_t i = 0; i < formats->count; i++) {
		for (size_t j = 0; j < ENCODING_COUNT; j++) {
			struct generations *kind = &cache->kinds[i][j];

			kind->newest = &kind->pages[0];
			kind->before = &kind->pages[1];
		}
		if (labels_of(cache, i) == i &&
		    label_cache_new(formats->formats[i].labels, NAMES_OF_PAGES, &cache->labels[i]) <
			    0) {
			page_cache_free(cache);
			return -ENOMEM;
		}
	}
	*ret = cache;
	return 0;
}

static void drop_namespace(void *owner)
{
	struct namespace_body *body = owner;

	if (!body || __atomic_sub_fetch(&body->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	strbuf_release(&body->body);
	free(body);
}

/* Under the lock, except at the end. */
static void drop_namespaces(struct page_cache *cache)
{
	for (size_t i = 0; i < NAMESPACE_BODIES; i++)
		drop_namespace(TAKE_PTR(cache->namespaces[i]));
}

/* Under the lock. An older snapshot, of a thread that was held up, drops nothing. */
static void drop_old_namespaces(struct page_cache *cache, const struct snapshot *snapshot)
{
	if (snapshot->sequence <= cache->namespaces_sequence)
		return;
	drop_namespaces(cache);
	cache->namespaces_sequence = snapshot->sequence;
}

void page_cache_free(struct page_cache *cache)
{
	if (!cache)
		return;
	drop_namespaces(cache);
	for (size_t i = 0; i < cache->formats->count; i++) {
		for (size_t j = 0; j < ENCODING_COUNT; j++) {
			strbuf_release(&cache->kinds[i][j].pages[0].body);
			strbuf_release(&cache->kinds[i][j].pages[1].body);
		}
		label_cache_free(cache->labels[i]);
	}
	(void)pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void page_cache_set_options(struct page_cache *cache, const struct page_options *options)
{
	pthread_mutex_lock(&cache->lock);
	if (cache->options.schema != options->schema ||
	    cache->options.created != options->created ||
	    cache->options.processes != options->processes) {
		cache->options = *options;
		drop_namespaces(cache);
		for (size_t i = 0; i < cache->formats->count; i++) {
			for (size_t j = 0; j < ENCODING_COUNT; j++)
				cache->kinds[i][j].newest->sequence = 0;
		}
	}
	pthread_mutex_unlock(&cache->lock);
}

void page_cache_set_http(struct page_cache *cache, struct http_server *server)
{
	pthread_mutex_lock(&cache->lock);
	cache->http = server;
	pthread_mutex_unlock(&cache->lock);
}

static bool has_readers(const struct page *page)
{
	return __atomic_load_n(&page->readers, __ATOMIC_ACQUIRE) > 0;
}

static void end_reading(void *owner)
{
	struct page *page = owner;

	__atomic_sub_fetch(&page->readers, 1, __ATOMIC_ACQ_REL);
}

/*
 * A page to write to, which is the newest from now on; NULL while both are being read. Called under
 * the lock, where no answer can begin to read one.
 */
static struct page *page_for_writing(struct page_cache *cache, struct generations *kind)
{
	struct page *before = kind->before;

	if (has_readers(kind->newest)) {
		if (has_readers(before)) {
			if (cache->http)
				http_server_hurry(cache->http, before, kind->newest);
			return NULL;
		}
		kind->before = kind->newest;
		kind->newest = before;
	} else if (!has_readers(before)) {
		strbuf_release(&before->body); /* slow readers needed it once */
	}
	kind->newest->sequence = 0;
	return kind->newest;
}

/* After a burst of series a buffer may be far too big for the remaining ones. */
static void trim(struct strbuf *body)
{
	size_t last = body->len;

	if (body->size > 1 << 20 && body->size / 8 > last)
		strbuf_release(body);
	strbuf_reset(body);
	(void)strbuf_reserve(body, last); /* for one growth instead of many; failing shows later */
	body->failed = false;
}

unsigned page_levels(const struct page_options *options)
{
	unsigned every = (1U << LEVEL_COUNT) - 1;

	return options->processes == PROCESSES_HIDDEN ? every - LEVEL_BIT(LEVEL_PROCESS) : every;
}

int page_render(const struct page_format *format, const struct snapshot *snapshot,
		const struct http_stats *http, const struct page_options *options,
		struct label_cache *labels, struct strbuf *out)
{
	struct catalog_view view = {
		.snapshot = snapshot,
		.http = http,
		.start_ms = (int64_t)(snapshot->node.start_time_s * 1000),
		.levels = page_levels(options),
	};

	if (label_cache_view(labels, snapshot, view.rows) < 0)
		return -ENOMEM;
	return format->render(&view, options, out);
}

/* 0, -EAGAIN while no page can be written, or -ENOMEM, as from the functions below. */
static int identity_page(struct page_cache *cache, const struct snapshot *snapshot, size_t format,
			 struct page **ret)
{
	struct generations *kind = &cache->kinds[format][ENCODING_IDENTITY];
	struct page *page = kind->newest;
	struct http_stats stats;

	*ret = page;
	if (page->sequence && page->sequence >= snapshot->sequence)
		return 0;
	page = page_for_writing(cache, kind);
	if (!page)
		return -EAGAIN;
	trim(&page->body);
	if (cache->http)
		http_server_get_stats(cache->http, &stats);
	if (page_render(&cache->formats->formats[format], snapshot, cache->http ? &stats : NULL,
			&cache->options, cache->labels[labels_of(cache, format)],
			&page->body) < 0) {
		strbuf_release(&page->body);
		return -ENOMEM;
	}
	page->sequence = snapshot->sequence;
	*ret = page;
	return 0;
}

static int gzip_page(struct page_cache *cache, const struct snapshot *snapshot, size_t format,
		     struct page **ret)
{
	struct generations *kind = &cache->kinds[format][ENCODING_GZIP];
	struct page *page = kind->newest, *identity;
	int r;

	*ret = page;
	if (page->sequence && page->sequence >= snapshot->sequence)
		return 0;
	r = identity_page(cache, snapshot, format, &identity);
	if (r < 0)
		return r;
	page = page_for_writing(cache, kind);
	if (!page)
		return -EAGAIN;
	r = gzip_body(identity->body.data, identity->body.len, &page->body);
	if (r < 0) {
		strbuf_release(&page->body);
		return r;
	}
	page->sequence = identity->sequence;
	*ret = page;
	return 0;
}

/* Takes a page that the caller reads until end_reading(). */
static int page_get(struct page_cache *cache, const struct snapshot *snapshot, size_t format,
		    bool gzip, struct page **ret)
{
	int r;

	pthread_mutex_lock(&cache->lock);
	drop_old_namespaces(cache, snapshot);
	r = gzip ? gzip_page(cache, snapshot, format, ret)
		 : identity_page(cache, snapshot, format, ret);
	if (r == 0)
		__atomic_fetch_add(&(*ret)->readers, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&cache->lock);
	return r;
}

static void answer_later(struct http_response *response, const char *text)
{
	*response = (struct http_response){ .status = 503,
					    .content_type = "text/plain; charset=utf-8",
					    .body = text,
					    .len = strlen(text),
					    .retry_after_s = 1 };
}

/* Under the lock, which the label cache needs. */
static int render_namespace(struct page_cache *cache, const struct snapshot *snapshot,
			    size_t format, const char *name, struct strbuf *out)
{
	struct namespace_view memory = { 0 };
	struct catalog_view view = {
		.snapshot = snapshot,
		.start_ms = (int64_t)(snapshot->node.start_time_s * 1000),
	};
	int r = label_cache_view(cache->labels[labels_of(cache, format)], snapshot, view.rows);

	if (r == 0)
		r = namespace_view_restrict(&view, name, &memory);
	if (r == 0)
		r = cache->formats->formats[format].render(&view, &cache->options, out);
	namespace_view_release(&memory);
	return r;
}

/* Under the lock. NULL: no memory. */
static struct namespace_body *make_namespace(struct page_cache *cache,
					     const struct snapshot *snapshot, size_t format,
					     const char *name, bool gzip)
{
	struct namespace_body *made = calloc(1, sizeof(*made) + strlen(name) + 1);
	struct strbuf packed = STRBUF_INIT;
	int r;

	if (!made)
		return NULL;
	*made = (struct namespace_body){ .references = 1, .format = format, .gzip = gzip };
	memcpy(made->name, name, strlen(name) + 1);
	r = render_namespace(cache, snapshot, format, name, &made->body);
	if (r == 0 && gzip) {
		r = gzip_body(made->body.data ? made->body.data : "", made->body.len, &packed);
		strbuf_release(&made->body);
		made->body = packed;
	}
	if (r == 0)
		return made;
	drop_namespace(made);
	return NULL;
}

static bool is_namespace(const struct namespace_body *body, size_t format, const char *name,
			 bool gzip)
{
	return body && body->format == format && body->gzip == gzip &&
	       strcmp(body->name, name) == 0;
}

/* Under the lock: its place in the table, or the place to take, which is the least used. */
static struct namespace_body **place_of(struct page_cache *cache, size_t format, const char *name,
					bool gzip)
{
	struct namespace_body **oldest = &cache->namespaces[0];

	for (size_t i = 0; i < NAMESPACE_BODIES; i++) {
		struct namespace_body **at = &cache->namespaces[i];

		if (is_namespace(*at, format, name, gzip))
			return at;
		if (*oldest && (!*at || (*at)->used < (*oldest)->used))
			oldest = at;
	}
	return oldest;
}

/* Takes a body that the caller reads until drop_namespace(). NULL: no memory. */
static struct namespace_body *namespace_get(struct page_cache *cache,
					    const struct snapshot *snapshot, size_t format,
					    const char *name, bool gzip)
{
	struct namespace_body **place, *body;

	pthread_mutex_lock(&cache->lock);
	drop_old_namespaces(cache, snapshot);
	place = place_of(cache, format, name, gzip);
	body = *place;
	if (!is_namespace(body, format, name, gzip)) {
		body = make_namespace(cache, snapshot, format, name, gzip);
		/* That of an older snapshot is for this answer alone. */
		if (body && snapshot->sequence == cache->namespaces_sequence) {
			drop_namespace(*place);
			*place = body;
		}
	}
	if (body && body == *place) {
		body->used = ++cache->namespaces_asked;
		__atomic_fetch_add(&body->references, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&cache->lock);
	return body;
}

void page_cache_handle_namespace(struct page_cache *cache, const char *name,
				 const struct http_request *request, struct http_response *response)
{
	const char *content_type;
	size_t format = cache->formats->negotiate(request->accept, &content_type);
	const struct snapshot *snapshot = snapshot_get(cache->holder);
	struct namespace_body *body;

	if (!snapshot) {
		answer_later(response, "no reading yet\n");
		return;
	}
	body = namespace_get(cache, snapshot, format, name, request->accepts_gzip);
	snapshot_put(cache->holder, snapshot);
	if (!body) {
		answer_later(response, "out of memory\n");
		return;
	}
	*response = (struct http_response){
		.status = 200,
		.content_type = content_type,
		.content_encoding = request->accepts_gzip ? "gzip" : NULL,
		.body = body->body.data ? body->body.data : "",
		.len = body->body.len,
		.release = drop_namespace,
		.owner = body,
	};
}

void page_cache_handle_metrics(void *userdata, const struct http_request *request,
			       struct http_response *response)
{
	struct page_cache *cache = userdata;
	const char *content_type;
	size_t format = cache->formats->negotiate(request->accept, &content_type);
	const struct snapshot *snapshot = snapshot_get(cache->holder);
	struct page *page;
	int r;

	if (!snapshot) {
		answer_later(response, "no reading yet\n");
		return;
	}
	r = page_get(cache, snapshot, format, request->accepts_gzip, &page);
	snapshot_put(cache->holder, snapshot);
	if (r == -EAGAIN) {
		response->status = HTTP_ASK_AGAIN;
		return;
	}
	if (r < 0) {
		answer_later(response, "out of memory\n");
		return;
	}
	*response = (struct http_response){
		.status = 200,
		.content_type = content_type,
		.content_encoding = request->accepts_gzip ? "gzip" : NULL,
		.body = page->body.data,
		.len = page->body.len,
		.release = end_reading,
		.owner = page,
	};
}
