/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of one holder's snapshots in every format that HTTP clients request, rendered on
 * demand. The newest body of each format and encoding is cached, and clients get references. A
 * struct describes a format; the set of formats chooses one for a request. Thread-safe.
 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"
#include "export/catalog/catalog_walk.h"
#include "export/label_cache.h"
#include "net/server/http_server.h"

#define PAGE_FORMATS_MAX 4

enum page_processes { PROCESSES_SHOWN, PROCESSES_HIDDEN };

/* The operator's choices for a page; the rest depends on the request. */
struct page_options {
	enum metrics_schema schema;
	bool created; /* a _created line for each counter, where the format has them */
	enum page_processes processes;
};

/* For struct catalog_view: the levels that a page has. */
unsigned page_levels(const struct page_options *options);

struct page_format {
	label_form *labels; /* of rows */
	/* Appends the whole page. 0 or -ENOMEM. */
	int (*render)(const struct catalog_view *view, const struct page_options *options,
		      struct strbuf *out);
};

struct page_formats {
	size_t count; /* at most PAGE_FORMATS_MAX */
	const struct page_format *formats;
	/*
	 * Pure: the index of the format that an Accept header (NULL: none) asks for, and its
	 * content type.
	 */
	size_t (*negotiate)(const char *accept, const char **ret_content_type);
};

/* @formats is borrowed. */
struct page_cache;
int page_cache_new(const struct page_formats *formats, struct snapshot_holder *holder,
		   const struct page_options *options, struct page_cache **ret);
/* No response may be outstanding: stop the server first. */
void page_cache_free(struct page_cache *cache);
void page_cache_set_options(struct page_cache *cache, const struct page_options *options);
/* Borrowed; for the metrics about the HTTP server. */
void page_cache_set_http(struct page_cache *cache, struct http_server *server);
http_handler page_cache_handle_metrics; /* userdata: struct page_cache * */
/*
 * The rows of one namespace alone (namespace_view.h), made once for each snapshot: a client that
 * asks in a loop costs no rendering, while no more than eight of these pages are in use.
 */
void page_cache_handle_namespace(struct page_cache *cache, const char *name,
				 const struct http_request *request,
				 struct http_response *response);

/* One page, without the cache. @http may be NULL, @labels have the format's form. 0 or -ENOMEM. */
int page_render(const struct page_format *format, const struct snapshot *snapshot,
		const struct http_stats *http, const struct page_options *options,
		struct label_cache *labels, struct strbuf *out);
