// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

/* Both families as one: IPv4 mapped into IPv6, as a socket of both families reports it. */
static bool read_ip(const struct sockaddr *address, struct in6_addr *ret)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;

	if (address->sa_family == AF_INET6) {
		*ret = v6->sin6_addr;
		return true;
	}
	if (address->sa_family != AF_INET)
		return false;
	*ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&ret->s6_addr[12], &v4->sin_addr, sizeof(v4->sin_addr));
	return true;
}

static bool is_loopback(const struct in6_addr *ip)
{
	return IN6_IS_ADDR_LOOPBACK(ip) || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
}

bool http_peer_is_local(const struct sockaddr *peer, const struct sockaddr *own)
{
	struct in6_addr peer_ip, own_ip;

	if (own->sa_family == AF_UNIX)
		return true;
	if (!read_ip(peer, &peer_ip) || !read_ip(own, &own_ip))
		return false;
	return is_loopback(&peer_ip) || IN6_ARE_ADDR_EQUAL(&peer_ip, &own_ip);
}

/* A peer with more groups than there is room for has, as far as is known, its first group only. */
bool http_peer_user_of(int fd, struct http_peer_user *ret)
{
	struct ucred user = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t user_len = sizeof(user), groups_len = sizeof(ret->groups);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &user_len) < 0 || user.uid == (uid_t)-1)
		return false;
	ret->pid = user.pid;
	ret->uid = user.uid;
	ret->gid = user.gid;
	ret->group_count = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ret->groups, &groups_len) == 0)
		ret->group_count = groups_len / sizeof(*ret->groups);
	return true;
}

bool http_peer_user_is_in(const struct http_peer_user *user, gid_t group)
{
	for (size_t i = 0; i < user->group_count; i++) {
		if (user->groups[i] == group)
			return true;
	}
	return user->gid == group;
}

bool http_peer_is_here(int fd)
{
	struct sockaddr_storage peer = { 0 }, own = { 0 };
	socklen_t peer_len = sizeof(peer), own_len = sizeof(own);

	return getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 &&
	       getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 &&
	       http_peer_is_local((const struct sockaddr *)&peer, (const struct sockaddr *)&own);
}

bool http_peer_header_is_foreign(const char *name, const char *value)
{
	static const char *const proxies[] = { "Forwarded", "X-Real-IP", "Via" };
	static const char prefix[] = "X-Forwarded-";

	for (size_t i = 0; i < ARRAY_SIZE(proxies); i++) {
		if (strcasecmp(name, proxies[i]) == 0)
			return true;
	}
	if (strncasecmp(name, prefix, strlen(prefix)) == 0)
		return true;
	return strcasecmp(name, "Sec-Fetch-Site") == 0 && strcasecmp(value, "none") != 0 &&
	       strcasecmp(value, "same-origin") != 0;
}
