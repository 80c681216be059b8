// SPDX-License-Identifier: Apache-2.0
/*
 * The host is first classified as an address or a name; anything else is refused, whatever is
 * allowed. Only whole labels are compared: "notsvc" is not ".svc".
 */
#include "net/server/http_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define DIGITS     "0123456789"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-"

/* @text is an IPv6 address, with or without a zone, which is the name of an interface. */
static bool is_ipv6(char *text)
{
	struct in6_addr unused;
	char *zone = strchr(text, '%');

	if (zone && (!zone[1] || zone[1 + strspn(zone + 1, NAME_CHARS)]))
		return false;
	if (zone)
		*zone = '\0';
	return inet_pton(AF_INET6, text, &unused) == 1;
}

static bool is_ipv4(const char *text)
{
	struct in_addr unused;

	return inet_pton(AF_INET, text, &unused) == 1;
}

/* Labels of letters, digits, hyphens and underscores, with single dots between them. */
static bool is_name(const char *text, size_t len)
{
	return len > 0 && strspn(text, NAME_CHARS) == len && text[0] != '.' &&
	       text[len - 1] != '.' && !strstr(text, "..");
}

static bool ends_with(const char *name, size_t len, const char *suffix, size_t suffix_len)
{
	return len > suffix_len && strncasecmp(name + len - suffix_len, suffix, suffix_len) == 0;
}

static bool matches(const char *name, size_t len, const char *allowed)
{
	size_t allowed_len = strlen(allowed);

	if (allowed_len > 0 && allowed[allowed_len - 1] == '.')
		allowed_len--;
	if (allowed_len == 1 && allowed[0] == '*')
		return true;
	if (allowed[0] == '*')
		return ends_with(name, len, allowed + 1, allowed_len - 1);
	return len == allowed_len && strncasecmp(name, allowed, len) == 0;
}

static bool is_allowed(const char *name, size_t len, const struct http_hosts *hosts)
{
	static const char *const always[] = { "*.svc", "*.cluster.local" };

	if (!memchr(name, '.', len))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(always); i++) {
		if (matches(name, len, always[i]))
			return true;
	}
	for (size_t i = 0; i < hosts->count; i++) {
		if (matches(name, len, hosts->names[i]))
			return true;
	}
	return hosts->own && http_own_names_have(hosts->own, name, len);
}

/* Ends @text before its ":PORT"; false when what is there is no port. */
static bool cut_port(char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return true;
	*colon = '\0';
	return strspn(colon + 1, DIGITS) == strlen(colon + 1);
}

static bool bracketed_is_ours(char *text)
{
	char *end = strchr(text, ']');

	if (!end || (end[1] && end[1] != ':') || !cut_port(end + 1))
		return false;
	*end = '\0';
	return is_ipv6(text + 1);
}

bool http_host_is_ours(const char *host, size_t len, const struct http_hosts *hosts)
{
	char text[HTTP_NAME_MAX + sizeof(".:65535")];
	size_t name_len;

	for (; len && (host[0] == ' ' || host[0] == '\t'); len--)
		host++;
	while (len && (host[len - 1] == ' ' || host[len - 1] == '\t'))
		len--;
	if (len == 0)
		return true;
	if (len >= sizeof(text) || memchr(host, '\0', len))
		return false;
	memcpy(text, host, len);
	text[len] = '\0';
	if (text[0] == '[')
		return bracketed_is_ours(text);
	if (strchr(text, ':') != strrchr(text, ':'))
		return is_ipv6(text); /* without its brackets, as some write it */
	if (!cut_port(text))
		return false;
	name_len = strlen(text);
	if (name_len > 0 && text[name_len - 1] == '.')
		text[--name_len] = '\0';
	return is_name(text, name_len) && (is_ipv4(text) || is_allowed(text, name_len, hosts));
}

int http_host_check_name(const char *text, struct diag *diag)
{
	const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
	size_t len = strlen(name);

	len -= len > 0 && name[len - 1] == '.';
	if (strcmp(text, "*") == 0 || (len <= HTTP_NAME_MAX && strspn(name, NAME_CHARS) >= len &&
				       len > 0 && name[0] != '.' && !strstr(name, "..")))
		return 0;
	return diag_set(diag, -EINVAL,
			"must be a name without a port, *.NAME for all names below it, or * for "
			"any, not \"%.200s\"",
			text);
}

const char *http_target_path(const char *target, const char **ret_host, size_t *ret_len)
{
	static const char *const schemes[] = { "http://", "https://" };

	*ret_host = NULL;
	*ret_len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t scheme_len = strlen(schemes[i]);

		if (strncasecmp(target, schemes[i], scheme_len) != 0)
			continue;
		*ret_host = target + scheme_len;
		*ret_len = strcspn(*ret_host, "/");
		target = *ret_host + *ret_len;
		return *target ? target : "/";
	}
	return target;
}
