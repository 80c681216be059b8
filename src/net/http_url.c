// SPDX-License-Identifier: Apache-2.0
/*
 * The text between "://" and the first slash, question mark or hash is the authority; its host
 * begins after the last "@" and ends at the last colon that is not within brackets.
 */
#include "net/http_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/text/ascii.h"

/* Where in @text, of @len bytes, the colon before a port is; @len without a port. */
static size_t find_port(const char *text, size_t len)
{
	size_t at = len;

	while (at > 0 && text[at - 1] != ':' && text[at - 1] != ']')
		at--;
	return at > 0 && text[at - 1] == ':' ? at - 1 : len;
}

void http_url_split(const char *url, struct http_url *ret)
{
	const char *scheme_end = strstr(url, "://"), *user_end;
	size_t left;

	ret->authority = scheme_end ? scheme_end + 3 : url;
	ret->authority_len = strcspn(ret->authority, "/?#");
	user_end = memrchr(ret->authority, '@', ret->authority_len);
	ret->host = user_end ? user_end + 1 : ret->authority;
	left = ret->authority_len - (size_t)(ret->host - ret->authority);
	ret->host_len = find_port(ret->host, left);
}

bool http_url_has_user(const char *url)
{
	struct http_url parts;

	http_url_split(url, &parts);
	return parts.host != parts.authority;
}

int http_url_site_len(const char *url)
{
	const char *host = strstr(url, "://");
	size_t len = host ? (size_t)(host + 3 - url) : 0;

	len += strcspn(url + len, "/?#");
	return len > 128 ? 128 : (int)len;
}

bool http_url_is_https(const char *url)
{
	return strncasecmp(url, "https://", 8) == 0;
}

bool http_url_is_loopback(const char *url)
{
	char host[INET6_ADDRSTRLEN + 2];
	struct in6_addr address6;
	struct in_addr address;
	struct http_url parts;

	http_url_split(url, &parts);
	if (parts.host_len >= sizeof(host))
		return false;
	memcpy(host, parts.host, parts.host_len);
	host[parts.host_len] = '\0';
	if (inet_pton(AF_INET, host, &address) == 1)
		return ntohl(address.s_addr) >> 24 == 127;
	if (host[0] != '[' || host[parts.host_len - 1] != ']')
		return strcasecmp(host, "localhost") == 0;
	host[parts.host_len - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address6) == 1 && IN6_IS_ADDR_LOOPBACK(&address6);
}

static bool needs_no_escape(char c)
{
	return ascii_is_alnum(c) || (c && strchr("-._~", c));
}

int http_url_escape(const char *text, char *buf, size_t size)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t len = 0;

	for (; *text; text++) {
		bool plain = needs_no_escape(*text);
		unsigned char byte = (unsigned char)*text;

		if (len + (plain ? 1 : 3) >= size) {
			buf[len] = '\0';
			return -ENOSPC;
		}
		if (plain) {
			buf[len++] = *text;
			continue;
		}
		buf[len++] = '%';
		buf[len++] = digits[byte >> 4];
		buf[len++] = digits[byte & 15];
	}
	buf[len] = '\0';
	return 0;
}

int http_url_unescape(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (; *text; text++) {
		char byte = *text;

		if (byte == '%') {
			int high = ascii_hex_value(text[1]);
			int low = high < 0 ? -1 : ascii_hex_value(text[2]);

			if (low < 0)
				return -EINVAL;
			byte = (char)(high * 16 + low);
			text += 2;
		}
		if ((unsigned char)byte < 0x20 || byte == 0x7f)
			return -EINVAL;
		if (len + 1 >= size)
			return -ENOSPC;
		buf[len++] = byte;
		buf[len] = '\0';
	}
	return 0;
}
