// SPDX-License-Identifier: Apache-2.0
/* A URL of any bytes, and behind its line a no_proxy list of any bytes: parts lie within it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/http_proxy.h"
#include "net/http_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const char *url, const char *list)
{
	const char *end = url + strlen(url);
	struct http_url parts;

	http_url_split(url, &parts);
	if (parts.authority < url || parts.authority + parts.authority_len > end)
		abort();
	if (parts.host < parts.authority ||
	    parts.host + parts.host_len > parts.authority + parts.authority_len)
		abort();
	if (memchr(parts.host, '@', parts.host_len))
		abort();
	if (http_url_has_user(url) != (parts.host != parts.authority))
		abort();
	(void)http_url_is_https(url);
	(void)http_proxy_is_excepted(list, parts.host, parts.host_len);
	if (!http_proxy_is_excepted("*", parts.host, parts.host_len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *line_end;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	line_end = strchr(text, '\n');
	if (line_end)
		*line_end = '\0';
	check_parts(text, line_end ? line_end + 1 : "");
	free(text);
	return 0;
}
