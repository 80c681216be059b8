/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The full names of this machine: the canonical form of the host name, and the name of each of its
 * addresses by reverse look-up, except loopback addresses. Every look-up may wait for name servers,
 * for as long as resolv.conf allows: call this in a separate process or thread.
 */
#pragma once

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define ADDRESS_NAMES_MAX 32 /* addresses that are looked up */

/* The lookup functions; a test replaces them. */
struct address_names_source {
	/* The addresses of this machine: at most @max, their number is returned. */
	size_t (*addresses)(struct sockaddr_storage *ret, size_t max);
	bool (*name_of)(const struct sockaddr_storage *address, char *ret, size_t size);
	bool (*canonical)(char *ret, size_t size);
};

extern const struct address_names_source address_names_system;

/* Calls @found with each name, as it is found; a name may come more than once. */
void address_names_look_up(const struct address_names_source *source,
			   void (*found)(void *userdata, const char *name), void *userdata);
