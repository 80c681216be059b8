/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the exporter, as routes of an HTTP server: /, /metrics, /healthz, /readyz,
 * /api/v1/now (now_page.h), /api/v1/history (history_page.h), /api/v1/findings (unused_page.h), and
 * for peers on this machine /api/v1/receivers (receivers_page.h), /explain/WHAT and, as JSON,
 * /api/v1/explain/WHAT (explain_page.h). Over a Unix socket there is /api/v1/stat, too
 * (stat_route.h). Each server that has them has a struct of its own.
 *
 * /healthz reports whether the loop turns (heartbeat.h); while it does not, /metrics answers 503
 * instead of old values. /readyz reports whether there is a snapshot younger than three intervals.
 * Before the first snapshot all but /healthz answer 503.
 */
#pragma once

#include <stdint.h>

#include "config/config.h"
#include "export/exporter.h"
#include "export/page_cache.h"
#include "kepler/pages/now_stream.h"
#include "kepler/pages/viewer.h"
#include "net/server/http_handler.h"

#define PAGES_ROUTES 11

struct pages {
	struct http_route routes[PAGES_ROUTES];
	struct page_cache *metrics; /* for page_cache_set_http(), once the server runs */
	/* Everything else is the pages' own. */
	struct snapshot_holder *holder;
	const struct heartbeat *heartbeat;
	struct explain_desk *desk;
	struct history *history;
	struct unused *unused;
	struct stat_desk *stats;
	struct send_board *sends;
	struct scrape_pace *pace;
	const struct viewing *viewing;
	struct viewer_times times; /* of users that see a part */
	/* Its .wake_fd is for http_options. */
	struct now_stream_source stream_source;
	uint64_t interval_ns; /* atomic: the server's thread reads it */
};

/*
 * @viewing decides what a peer may see (viewer.h); NULL: everything. It is borrowed, and @pages
 * must not move. 0, -ENOMEM or -EMFILE; pages_release() is due in either case, after the server has
 * ended.
 */
int pages_init(struct pages *pages, const struct exporter_program *program,
	       const struct viewing *viewing);
void pages_release(struct pages *pages);
/* After a reload. */
void pages_reconfigure(struct pages *pages, const struct config *config);
