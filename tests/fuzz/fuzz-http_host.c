// SPDX-License-Identifier: Apache-2.0
/* A Host header of any bytes, and as a target: what passes is an address or a name of ours. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/server/http_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "*.lab.example" };
	const struct http_hosts hosts = { names, 1, NULL }, none = { NULL, 0, NULL };
	char *text = malloc(size + 1);
	const char *host, *path;
	size_t len;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (http_host_is_ours(text, size, &none) && !http_host_is_ours(text, size, &hosts))
		abort();
	if (http_host_is_ours(text, size, &hosts) && memmem(text, size, ".example/", 9))
		abort();
	path = http_target_path(text, &host, &len);
	if (host && (host < text || host + len > text + strlen(text)))
		abort();
	if (strcmp(path, "/") != 0 && (path < text || path > text + strlen(text)))
		abort();
	(void)http_host_check_name(text, NULL);
	free(text);
	return 0;
}
