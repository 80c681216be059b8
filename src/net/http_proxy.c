// SPDX-License-Identifier: Apache-2.0
/* An address is compared bit by bit, whatever its spelling; a name from its end. */
#include "net/http_proxy.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"

#define SEPARATORS ", \t"

struct address {
	size_t bits; /* 32 or 128; 0: none */
	unsigned char bytes[16];
};

static struct address read_address(const char *text, size_t len)
{
	struct address address = { 0 };
	char copy[INET6_ADDRSTRLEN];

	if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (len >= sizeof(copy))
		return address;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET, copy, address.bytes) == 1)
		address.bits = 32;
	else if (inet_pton(AF_INET6, copy, address.bytes) == 1)
		address.bits = 128;
	return address;
}

static bool is_in_network(const struct address *address, const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	size_t address_len = slash ? (size_t)(slash - text) : len;
	struct address network = read_address(text, address_len);
	uint64_t bits = network.bits;
	unsigned differ;
	size_t whole;

	if (network.bits != address->bits)
		return false;
	if (slash && parse_u64(slash + 1, len - address_len - 1, &bits) < 0)
		return false;
	if (bits > network.bits)
		return false;
	whole = bits / 8;
	if (memcmp(address->bytes, network.bytes, whole) != 0)
		return false;
	if (bits % 8 == 0)
		return true;
	differ = address->bytes[whole] ^ network.bytes[whole];
	return differ >> (8 - bits % 8) == 0;
}

static bool is_below(const char *host, size_t host_len, const char *name, size_t len)
{
	if (len > 0 && name[len - 1] == '.')
		len--;
	if (len > 0 && name[0] == '.') {
		name++;
		len--;
	}
	if (host_len > 0 && host[host_len - 1] == '.')
		host_len--;
	if (len == 0 || len > host_len || strncasecmp(host + host_len - len, name, len) != 0)
		return false;
	return len == host_len || host[host_len - len - 1] == '.';
}

bool http_proxy_is_excepted(const char *list, const char *host, size_t host_len)
{
	struct address address = read_address(host, host_len);

	for (;;) {
		size_t len;

		list += strspn(list, SEPARATORS);
		len = strcspn(list, SEPARATORS);
		if (len == 0)
			return false;
		if (len == 1 && *list == '*')
			return true;
		if (address.bits ? is_in_network(&address, list, len)
				 : is_below(host, host_len, list, len))
			return true;
		list += len;
	}
}

/* The first of @names that is set, or NULL. */
static const char *first_of(const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

const char *http_proxy_find(const char *url)
{
	static const char *const for_https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
						 "ALL_PROXY" };
	static const char *const for_http[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
	static const char *const for_none[] = { "no_proxy", "NO_PROXY" };
	const char *proxy = http_url_is_https(url) ? first_of(for_https, ARRAY_SIZE(for_https))
						   : first_of(for_http, ARRAY_SIZE(for_http));
	const char *list = first_of(for_none, ARRAY_SIZE(for_none));
	struct http_url parts;

	http_url_split(url, &parts);
	if (proxy && list && http_proxy_is_excepted(list, parts.host, parts.host_len))
		return NULL;
	return proxy;
}
