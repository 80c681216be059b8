/* SPDX-License-Identifier: Apache-2.0 */
/* Is what has connected on this machine? Asked of the socket, not of anything that a peer says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Groups of a peer beyond its first; further ones are not known. */
#define HTTP_PEER_GROUPS_MAX 64

/* The effective user and the groups of a process at the time when it connected. */
struct http_peer_user {
	pid_t pid; /* 0: in a pid namespace that is not seen from here */
	uid_t uid;
	gid_t gid;
	size_t group_count;
	gid_t groups[HTTP_PEER_GROUPS_MAX];
};

/* Reads it of a connected Unix socket (SO_PEERCRED, SO_PEERGROUPS: socket(7)). false: not known. */
bool http_peer_user_of(int fd, struct http_peer_user *ret);
bool http_peer_user_is_in(const struct http_peer_user *user, gid_t group);

/*
 * Does @fd come over a unix socket, from loopback, or from the very address that it is connected
 * to, which no other machine has? A proxy or a tunnel that ends here is here, too.
 */
bool http_peer_is_here(int fd);
/*
 * Is @name of a request, with @value, a sign that it comes from elsewhere all the same: by a proxy
 * that says so (Forwarded, X-Forwarded-*, X-Real-IP, Via), or from a page of another site in a
 * browser (Sec-Fetch-Site)? Pure.
 */
bool http_peer_header_is_foreign(const char *name, const char *value);
/* http_peer_is_here() of the two ends' addresses. Pure. */
bool http_peer_is_local(const struct sockaddr *peer, const struct sockaddr *own);
