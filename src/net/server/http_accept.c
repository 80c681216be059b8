// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_accept.h"

#include <string.h>
#include <strings.h>

static bool equals(const char *text, size_t len, const char *want)
{
	return strlen(want) == len && strncasecmp(text, want, len) == 0;
}

/* "0.75" → 750 */
static unsigned parse_weight(const char *text, size_t len)
{
	unsigned weight = 0, place = HTTP_WEIGHT_MAX;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && i == 1)
			continue;
		if (i == 1 || text[i] < '0' || text[i] > '9' || place == 0)
			return 0;
		weight += (unsigned)(text[i] - '0') * place;
		place /= 10;
	}
	return weight > HTTP_WEIGHT_MAX ? 0 : weight;
}

const char *http_accepted_parameter(const struct http_accepted *accepted, const char *name,
				    size_t *ret_len)
{
	const char *at = accepted->parameters, *end = at + accepted->parameters_len;

	while (at < end) {
		size_t len, name_len;

		at += strspn(at, " \t;");
		len = strcspn(at, " \t;,");
		name_len = strcspn(at, "= \t;,");
		if (name_len < len && equals(at, name_len, name)) {
			*ret_len = len - name_len - 1;
			return at + name_len + 1;
		}
		at += strcspn(at, ";,");
	}
	return NULL;
}

bool http_accept_next(const char **header, struct http_accepted *ret)
{
	const char *at = *header + strspn(*header, " \t,");
	struct http_accepted accepted = { .name = at, .weight = HTTP_WEIGHT_MAX };
	const char *weight;
	size_t len;

	if (!*at)
		return false;
	accepted.name_len = strcspn(at, " \t;,");
	accepted.parameters = at + strcspn(at, ";,");
	accepted.parameters_len = strcspn(accepted.parameters, ",");
	weight = http_accepted_parameter(&accepted, "q", &len);
	if (weight)
		accepted.weight = parse_weight(weight, len);
	*header = accepted.parameters + accepted.parameters_len;
	*ret = accepted;
	return true;
}

bool http_accepted_is(const struct http_accepted *accepted, const char *name)
{
	return equals(accepted->name, accepted->name_len, name);
}

bool http_accepts_gzip(const char *accept_encoding)
{
	struct http_accepted accepted;
	bool any = false;

	while (http_accept_next(&accept_encoding, &accepted)) {
		if (http_accepted_is(&accepted, "gzip") || http_accepted_is(&accepted, "x-gzip"))
			return accepted.weight > 0;
		if (http_accepted_is(&accepted, "*"))
			any = accepted.weight > 0;
	}
	return any;
}
