// SPDX-License-Identifier: Apache-2.0
/*
 * What an Accept header asks for (RFC 9110 §12.5.1). OpenMetrics is given to those who name it, in
 * a version we speak, with a weight above plain text's; all others get the text format, which
 * everybody reads.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "export/prometheus.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"
#define WHOLE            1000 /* weights are in thousandths */

static bool equals(const char *text, size_t len, const char *want)
{
	return strlen(want) == len && strncasecmp(text, want, len) == 0;
}

/* "0.75" → 750; what cannot be read is 0. */
static unsigned parse_weight(const char *text, size_t len)
{
	unsigned weight = 0, place = WHOLE;

	for (size_t i = 0; i < len && place > 0; i++) {
		if (text[i] == '.' && i == 1)
			continue;
		if (text[i] < '0' || text[i] > '9')
			return 0;
		weight += (unsigned)(text[i] - '0') * place;
		place /= 10;
	}
	return weight > WHOLE ? WHOLE : weight;
}

struct media_range {
	const char *type;
	size_t type_len;
	unsigned weight;
	bool version_ok; /* none named, or 1.0.0 */
};

static void parse_parameter(struct media_range *range, const char *text, size_t len)
{
	const char *equal = memchr(text, '=', len);
	size_t name_len, value_len;

	if (!equal)
		return;
	name_len = (size_t)(equal - text);
	value_len = len - name_len - 1;
	if (equals(text, name_len, "q"))
		range->weight = parse_weight(equal + 1, value_len);
	else if (equals(text, name_len, "version"))
		range->version_ok = equals(equal + 1, value_len, "1.0.0") ||
				    equals(equal + 1, value_len, "\"1.0.0\"");
}

/* Reads one media range and returns what follows it. */
static const char *parse_range(const char *text, struct media_range *ret)
{
	*ret = (struct media_range){ .weight = WHOLE, .version_ok = true };
	text += strspn(text, " \t,");
	ret->type = text;
	ret->type_len = strcspn(text, " \t;,");
	text += strcspn(text, ";,");
	while (*text == ';') {
		size_t len;

		text += 1 + strspn(text + 1, " \t");
		len = strcspn(text, " \t;,");
		parse_parameter(ret, text, len);
		text += strcspn(text, ";,");
	}
	return text;
}

enum exposition prometheus_negotiate(const char *accept)
{
	unsigned openmetrics = 0, text = 0;

	while (accept && *accept) {
		struct media_range range;

		accept = parse_range(accept, &range);
		if (equals(range.type, range.type_len, OPENMETRICS_TYPE)) {
			if (range.version_ok && range.weight > openmetrics)
				openmetrics = range.weight;
		} else if (equals(range.type, range.type_len, "text/plain") &&
			   range.weight > text) {
			text = range.weight;
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
