// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_opening.h"

#include <string.h>
#include <sys/socket.h>

#define OPENING_MAX   8192 /* a peer that sends as much is not waited for */
#define RECORD_HEAD   5    /* type, version, length */
#define RECORD_SHAKES 22   /* handshake */

static bool is_whole_record(const char *bytes, size_t len)
{
	const unsigned char *head = (const unsigned char *)bytes;

	if (len && head[0] != RECORD_SHAKES)
		return true;
	return len >= RECORD_HEAD && len - RECORD_HEAD >= ((size_t)head[3] << 8 | head[4]);
}

bool http_opening_is_whole(const char *bytes, size_t len, bool tls)
{
	if (len >= OPENING_MAX)
		return true;
	if (tls)
		return is_whole_record(bytes, len);
	return memmem(bytes, len, "\n\r\n", 3) || memmem(bytes, len, "\n\n", 2);
}

bool http_opening_has_come(int fd, bool tls)
{
	char bytes[OPENING_MAX];
	ssize_t len = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	return len > 0 && http_opening_is_whole(bytes, (size_t)len, tls);
}
