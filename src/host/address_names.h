/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine is called in full: the canonical name of the host's name, and the name of each
 * of its addresses by reverse look-up, except those of the loopback. Every look-up may wait for
 * name servers, for as long as resolv.conf says: this is for a process or thread of its own.
 */
#pragma once

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define ADDRESS_NAMES_MAX 32 /* addresses that are looked up */

/* What is asked; a test gives others. */
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
