// SPDX-License-Identifier: Apache-2.0
#include "host/address_names.h"

#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t size_of(const struct sockaddr *address)
{
	switch (address->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

static size_t own_addresses(struct sockaddr_storage *ret, size_t max)
{
	struct ifaddrs *list = NULL;
	size_t count = 0;

	if (getifaddrs(&list) < 0)
		return 0;
	for (const struct ifaddrs *i = list; i && count < max; i = i->ifa_next) {
		size_t size = i->ifa_addr ? size_of(i->ifa_addr) : 0;

		if (size && !(i->ifa_flags & IFF_LOOPBACK))
			memcpy(&ret[count++], i->ifa_addr, size);
	}
	freeifaddrs(list);
	return count;
}

static bool reverse_name(const struct sockaddr_storage *address, char *ret, size_t size)
{
	const struct sockaddr *any = (const struct sockaddr *)address;

	return getnameinfo(any, (socklen_t)size_of(any), ret, (socklen_t)size, NULL, 0,
			   NI_NAMEREQD) == 0;
}

static bool canonical_name(char *ret, size_t size)
{
	const struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	char host[HOST_NAME_MAX + 1] = "";
	bool is_known = gethostname(host, sizeof(host)) == 0 && *host &&
			getaddrinfo(host, NULL, &hints, &list) == 0 && list->ai_canonname;

	if (is_known)
		(void)snprintf(ret, size, "%s", list->ai_canonname);
	if (list)
		freeaddrinfo(list);
	return is_known;
}

const struct address_names_source address_names_system = { own_addresses, reverse_name,
							   canonical_name };

void address_names_look_up(const struct address_names_source *source,
			   void (*found)(void *userdata, const char *name), void *userdata)
{
	struct sockaddr_storage addresses[ADDRESS_NAMES_MAX] = { 0 };
	size_t count = source->addresses(addresses, ADDRESS_NAMES_MAX);
	char name[NI_MAXHOST];

	if (source->canonical(name, sizeof(name)))
		found(userdata, name);
	for (size_t i = 0; i < count; i++) {
		if (source->name_of(&addresses[i], name, sizeof(name)))
			found(userdata, name);
	}
}
