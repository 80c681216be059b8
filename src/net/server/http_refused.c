// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_refused.h"

#include <string.h>

void http_refused_init(struct http_refused *refused)
{
	*refused = (struct http_refused){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* Without its port, as it may be logged. */
static void make_printable(char text[HTTP_REFUSED_NAME_MAX + 1], const char *host, size_t len)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-[]";
	const char *port = host[0] == '[' ? NULL : memchr(host, ':', len);
	size_t n = 0;

	if (port)
		len = (size_t)(port - host);
	for (; n < len && n < HTTP_REFUSED_NAME_MAX; n++)
		text[n] = (char)(host[n] && strchr(chars, host[n]) ? host[n] : '?');
	text[n] = '\0';
}

void http_refused_note(struct http_refused *refused, const char *host, size_t len)
{
	char text[HTTP_REFUSED_NAME_MAX + 1];
	size_t i = 0;

	make_printable(text, host, len);
	(void)pthread_mutex_lock(&refused->lock);
	while (i < refused->count && strcmp(refused->names[i], text) != 0)
		i++;
	if (i == refused->count && i < HTTP_REFUSED_NAMES)
		memcpy(refused->names[refused->count++], text, sizeof(text));
	(void)pthread_mutex_unlock(&refused->lock);
}

const char *http_refused_take(struct http_refused *refused)
{
	const char *name = NULL;

	(void)pthread_mutex_lock(&refused->lock);
	if (refused->taken < refused->count)
		name = refused->names[refused->taken++];
	(void)pthread_mutex_unlock(&refused->lock);
	return name;
}
