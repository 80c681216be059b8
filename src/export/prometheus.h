/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How does Prometheus see a snapshot? Text format 0.0.4 and OpenMetrics 1.0, in classic Kepler's
 * names, today's, or both.
 *
 * Every family stands in one catalog (catalog.h) with type, unit, help and labels; one walk over it
 * feeds the sink of a format (sink.h), and the tool that writes docs/metrics.md reads it, too. What
 * a row's labels look like is rendered once and kept (label_cache.h). A body is rendered at most
 * once per snapshot, format and encoding, on first demand (page_cache.c).
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "export/catalog.h"
#include "net/http_server.h"
#include "snapshot/snapshot.h"

enum exposition { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS };

/* What the operator chooses of a page; what else it is, its reader asks for. */
struct page_options {
	enum metrics_schema schema;
	bool created; /* a _created line for each counter, where the exposition has them */
};

struct label_cache;
int label_cache_new(struct label_cache **ret);
void label_cache_free(struct label_cache *cache);

/* Appends the whole exposition of @snapshot. @http may be NULL. 0 or -ENOMEM. */
int prometheus_render(const struct snapshot *snapshot, const struct http_stats *http,
		      const struct page_options *options, enum exposition exposition,
		      struct label_cache *cache, struct strbuf *out);

/* Pure: what an Accept header asks for; text when in doubt. */
enum exposition prometheus_negotiate(const char *accept);
const char *prometheus_content_type(enum exposition exposition);

/*
 * The pages over one holder: renders on demand, keeps the newest body of each exposition and
 * encoding, hands out references. For the http_server's routes /metrics. Safe on several threads.
 */
struct page_cache;
int page_cache_new(struct snapshot_holder *holder, const struct page_options *options,
		   struct page_cache **ret);
void page_cache_free(
	struct page_cache *cache); /* no response may be outstanding: stop the server first */
void page_cache_set_options(struct page_cache *cache, const struct page_options *options);
void page_cache_set_http(struct page_cache *cache,
			 struct http_server *server); /* borrowed; for kepler_http_* */
http_handler page_cache_handle_metrics;               /* userdata: struct page_cache * */
