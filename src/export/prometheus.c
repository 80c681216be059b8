// SPDX-License-Identifier: Apache-2.0
#include "export/prometheus.h"

#include <string.h>

#include "base/macro.h"
#include "export/protobuf_sink.h"
#include "export/text_sink.h"
#include "net/server/http_accept.h"

static int render_text(const struct catalog_view *view, const struct page_options *options,
		       struct strbuf *out)
{
	struct text_sink text;

	text_sink_init(&text, out, TEXT_PROMETHEUS, false);
	catalog_walk(view, (unsigned)options->schema, &text.sink);
	return text_sink_finish(&text);
}

static int render_openmetrics(const struct catalog_view *view, const struct page_options *options,
			      struct strbuf *out)
{
	struct text_sink text;

	text_sink_init(&text, out, TEXT_OPENMETRICS_1, options->created);
	catalog_walk(view, (unsigned)options->schema, &text.sink);
	return text_sink_finish(&text);
}

static int render_openmetrics_2(const struct catalog_view *view, const struct page_options *options,
				struct strbuf *out)
{
	struct text_sink text;

	text_sink_init(&text, out, TEXT_OPENMETRICS_2, false);
	catalog_walk(view, (unsigned)options->schema, &text.sink);
	return text_sink_finish(&text);
}

static int render_protobuf(const struct catalog_view *view, const struct page_options *options,
			   struct strbuf *out)
{
	struct protobuf_sink protobuf;

	protobuf_sink_init(&protobuf, out);
	catalog_walk(view, (unsigned)options->schema, &protobuf.sink);
	return protobuf_sink_finish(&protobuf);
}

/*
 * How names beyond the legacy character set are to be written. We have none, so that all schemes
 * give the same page: the answer names the one that was requested.
 */
enum escaping { NOT_ASKED, ALLOW_UTF_8, UNDERSCORES, DOTS, VALUES, ESCAPING_COUNT };
static const char *const escapings[ESCAPING_COUNT] = { NULL, "allow-utf-8", "underscores", "dots",
						       "values" };

#define WITH_ESCAPINGS(type)                                                                       \
	{                                                                                          \
		type, type "; escaping=allow-utf-8", type "; escaping=underscores",                \
			type "; escaping=dots", type "; escaping=values"                           \
	}

#define TEXT_0_0_4 "text/plain; version=0.0.4; charset=utf-8"

/* The media types that a request can ask for, with their parameters. */
static const struct media {
	const char *name;
	enum exposition exposition;
	struct {
		const char *name, *value;
		bool needed;
	} parameters[2];
	const char *content_types[ESCAPING_COUNT];
} medias[] = {
	{ "application/vnd.google.protobuf",
	  EXPOSITION_PROTOBUF,
	  { { "proto", "io.prometheus.client.MetricFamily", true },
	    { "encoding", "delimited", true } },
	  WITH_ESCAPINGS("application/vnd.google.protobuf; "
			 "proto=io.prometheus.client.MetricFamily; encoding=delimited") },
	/* Only on request: without a version the oldest is meant. */
	{ "application/openmetrics-text",
	  EXPOSITION_OPENMETRICS_2,
	  { { "version", "2.0.0", true } },
	  WITH_ESCAPINGS("application/openmetrics-text; version=2.0.0; charset=utf-8") },
	{ "application/openmetrics-text",
	  EXPOSITION_OPENMETRICS,
	  { { "version", "1.0.0", false } },
	  WITH_ESCAPINGS("application/openmetrics-text; version=1.0.0; charset=utf-8") },
	{ "text/plain",
	  EXPOSITION_TEXT,
	  { { "version", "1.0.0", true } },
	  WITH_ESCAPINGS("text/plain; version=1.0.0; charset=utf-8") },
	{ "text/plain", /* any other version: every client reads it */
	  EXPOSITION_TEXT,
	  { { 0 } },
	  { TEXT_0_0_4, TEXT_0_0_4, TEXT_0_0_4, TEXT_0_0_4, TEXT_0_0_4 } },
};

/* True if @text is @want, with or without quotes. */
static bool says(const char *text, size_t len, const char *want)
{
	if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
		text++;
		len -= 2;
	}
	return len == strlen(want) && memcmp(text, want, len) == 0;
}

static bool is_media(const struct http_accepted *accepted, const struct media *media)
{
	if (!http_accepted_is(accepted, media->name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(media->parameters) && media->parameters[i].name; i++) {
		size_t len;
		const char *value =
			http_accepted_parameter(accepted, media->parameters[i].name, &len);

		if (value ? !says(value, len, media->parameters[i].value)
			  : media->parameters[i].needed)
			return false;
	}
	return true;
}

static enum escaping escaping_of(const struct http_accepted *accepted)
{
	size_t len;
	const char *value = http_accepted_parameter(accepted, "escaping", &len);

	for (enum escaping e = ALLOW_UTF_8; value && e < ESCAPING_COUNT; e++) {
		if (says(value, len, escapings[e]))
			return e;
	}
	return NOT_ASKED;
}

/* Text wins among equal weights, because every client reads it; otherwise the first one wins. */
enum exposition prometheus_negotiate(const char *accept, const char **ret_content_type)
{
	enum exposition best = EXPOSITION_TEXT;
	struct http_accepted accepted;
	unsigned weight = 0;

	*ret_content_type = TEXT_0_0_4;
	while (accept && http_accept_next(&accept, &accepted)) {
		for (size_t i = 0; i < ARRAY_SIZE(medias); i++) {
			const struct media *media = &medias[i];
			bool wins = media->exposition == EXPOSITION_TEXT && best != EXPOSITION_TEXT;

			if (!is_media(&accepted, media))
				continue;
			if (accepted.weight > weight ||
			    (wins && accepted.weight == weight && weight > 0)) {
				best = media->exposition;
				weight = accepted.weight;
				*ret_content_type = media->content_types[escaping_of(&accepted)];
			}
			break;
		}
	}
	return best;
}

static size_t negotiate(const char *accept, const char **ret_content_type)
{
	return prometheus_negotiate(accept, ret_content_type);
}

static const struct page_format formats[] = {
	[EXPOSITION_TEXT] = { text_labels, render_text },
	[EXPOSITION_OPENMETRICS] = { text_labels, render_openmetrics },
	[EXPOSITION_OPENMETRICS_2] = { text_labels, render_openmetrics_2 },
	[EXPOSITION_PROTOBUF] = { protobuf_labels, render_protobuf },
};

const struct page_formats prometheus_pages = { ARRAY_SIZE(formats), formats, negotiate };
