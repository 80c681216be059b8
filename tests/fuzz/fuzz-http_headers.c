// SPDX-License-Identifier: Apache-2.0
/* Text in one line from a peer or a person: Accept, Accept-Encoding, an address to listen on. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/prometheus.h"
#include "net/server/http_accept.h"
#include "net/server/http_address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), host[48];
	const char *content_type;
	enum exposition exposition;
	uint16_t port;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	(void)http_accepts_gzip(text);
	exposition = prometheus_negotiate(text, &content_type);
	assert(exposition < prometheus_pages.count);
	assert(strncmp(content_type, exposition == EXPOSITION_TEXT ? "text/" : "application/", 5) ==
	       0);
	if (http_parse_address(text, host, sizeof(host), &port, NULL) == 0)
		assert(strlen(host) < sizeof(host));
	free(text);
	return 0;
}
