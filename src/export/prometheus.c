// SPDX-License-Identifier: Apache-2.0
#include "export/prometheus.h"

#include <errno.h>
#include <string.h>

#include "export/catalog_walk.h"
#include "export/label_cache.h"
#include "export/text_sink.h"
#include "net/http_accept.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"

int prometheus_render(const struct snapshot *snapshot, const struct http_stats *http,
		      const struct page_options *options, enum exposition exposition,
		      struct label_cache *cache, struct strbuf *out)
{
	struct catalog_view view = {
		.snapshot = snapshot,
		.http = http,
		.start_ms = (int64_t)(snapshot->self.start_time_s * 1000),
	};
	struct text_sink text;

	if (label_cache_view(cache, snapshot, view.rows) < 0)
		return -ENOMEM;
	text_sink_init(&text, out, exposition == EXPOSITION_OPENMETRICS, options->created);
	catalog_walk(&view, (unsigned)options->schema, &text.sink);
	return text_sink_finish(&text);
}

static bool is_version_we_speak(const struct http_accepted *accepted)
{
	size_t len;
	const char *version = http_accepted_parameter(accepted, "version", &len);

	return !version || (len == 5 && strncmp(version, "1.0.0", len) == 0) ||
	       (len == 7 && strncmp(version, "\"1.0.0\"", len) == 0);
}

/* OpenMetrics is for those that prefer it to plain text, which everything else can read. */
enum exposition prometheus_negotiate(const char *accept)
{
	unsigned openmetrics = 0, text = 0;
	struct http_accepted accepted;

	while (accept && http_accept_next(&accept, &accepted)) {
		if (http_accepted_is(&accepted, OPENMETRICS_TYPE)) {
			if (is_version_we_speak(&accepted) && accepted.weight > openmetrics)
				openmetrics = accepted.weight;
		} else if (http_accepted_is(&accepted, "text/plain") && accepted.weight > text) {
			text = accepted.weight;
		}
	}
	return openmetrics > text ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}

const char *prometheus_content_type(enum exposition exposition)
{
	return exposition == EXPOSITION_OPENMETRICS ? OPENMETRICS_TYPE
		       "; version=1.0.0; charset=utf-8"
						    : "text/plain; version=0.0.4; charset=utf-8";
}
