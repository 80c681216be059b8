// SPDX-License-Identifier: Apache-2.0
/*
 * What an Accept-Encoding header offers, as far as we care: gzip or not (RFC 9110 §12.5.3). The
 * most specific entry decides: a "gzip" (or "x-gzip", §8.4.1.3) with its own weight wins over "*".
 * A weight that cannot be read counts as refusal: identity is always right.
 */
#include <string.h>
#include <strings.h>

#include "net/http_server.h"

static size_t skip_blanks(const char *text)
{
	return strspn(text, " \t");
}

static bool token_is(const char *token, size_t len, const char *name)
{
	return strlen(name) == len && strncasecmp(token, name, len) == 0;
}

/* Is the weight in the parameters "; q=0.5" above 0? No q at all means 1. */
static bool weight_is_positive(const char *params, size_t len)
{
	const char *end = params + len;

	while (params < end) {
		params += 1; /* the semicolon */
		params += skip_blanks(params);
		if (end - params >= 2 && (params[0] == 'q' || params[0] == 'Q') &&
		    params[1] == '=') {
			size_t digits = strspn(params + 2, "0123456789.");

			return digits > 0 && strcspn(params + 2, "123456789") < digits;
		}
		while (params < end && *params != ';')
			params++;
	}
	return true;
}

bool http_accepts_gzip(const char *accept_encoding)
{
	bool any = false;

	while (*accept_encoding) {
		size_t entry, token;

		accept_encoding += skip_blanks(accept_encoding);
		entry = strcspn(accept_encoding, ",");
		token = strcspn(accept_encoding, " \t,;");
		if (token_is(accept_encoding, token, "gzip") ||
		    token_is(accept_encoding, token, "x-gzip") ||
		    token_is(accept_encoding, token, "*")) {
			const char *params = accept_encoding + strcspn(accept_encoding, ",;");
			size_t rest = entry - (size_t)(params - accept_encoding);
			bool positive = weight_is_positive(params, rest);

			if (accept_encoding[0] != '*')
				return positive;
			any = positive;
		}
		accept_encoding += entry;
		if (*accept_encoding == ',')
			accept_encoding++;
	}
	return any;
}
