/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names by which other machines reach this one, for a server that listens beyond the loopback:
 * a scraper uses "node1.example.org" where the machine itself only knows "node1". Three rules:
 *
 *   any name whose first label is the first label of a name of this machine (host, node, pod)
 *   "SERVICE.NAMESPACE.svc.DOMAIN" of the Kubernetes namespace that this program runs in
 *   names that were found, as by a reverse look-up of this machine's addresses
 *
 * An attacker who knows the host's name can own a name under the first rule. It is therefore not
 * for servers on the loopback, which other machines cannot reach anyway.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

#define HTTP_NAME_MAX      253 /* bytes of a DNS name */
#define HTTP_LABEL_MAX     63
#define HTTP_OWN_LABELS    8
#define HTTP_FOUND_NAMES   64
#define HTTP_NAMESPACE_MAX HTTP_LABEL_MAX

/* All zero is empty. Names are added by one thread at a time, and read by any. */
struct http_own_names {
	char labels[HTTP_OWN_LABELS][HTTP_LABEL_MAX + 1];
	size_t label_count;
	char namespace_[HTTP_NAMESPACE_MAX + 1];
	char found[HTTP_FOUND_NAMES][HTTP_NAME_MAX + 1];
	size_t found_count; /* atomic: what is below it does not change any more */
};

/* Before the server starts. @name is a name of this machine: its first label counts. */
void http_own_names_add_host(struct http_own_names *own, const char *name);
/* Before the server starts. "" or one that is too long: none. */
void http_own_names_set_namespace(struct http_own_names *own, const char *name);
/*
 * At any time. False: the name is known, cannot be in a request, names the loopback, or finds no
 * room.
 */
bool http_own_names_add_found(struct http_own_names *own, const char *name);
/* @name: of @len bytes, without port and final dot. */
bool http_own_names_have(const struct http_own_names *own, const char *name, size_t len);
/* "node1, node1.*, *.kepler.svc.*, node1.example.org": for people. */
void http_own_names_describe(const struct http_own_names *own, struct strbuf *out);
