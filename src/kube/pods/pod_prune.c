// SPDX-License-Identifier: Apache-2.0
/*
 * One pass over strings: a string followed by a colon and a bracket is a key of an object or array.
 * A removed value is skipped to its closing bracket; all other text is copied in runs.
 */
#include "kube/pods/pod_prune.h"

#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/json_scan.h"

/* Keys of k8s.io/api/core/v1, types.go: no field that is read is below one, at any depth. */
static const char *const unread[] = {
	"affinity",
	"args",
	"capabilities",
	"command",
	"conditions",
	"dnsConfig",
	"env",
	"envFrom",
	"hostAliases",
	"hostIPs",
	"lifecycle",
	"livenessProbe",
	"managedFields",
	"podIPs",
	"ports",
	"readinessGates",
	"readinessProbe",
	"schedulingGates",
	"securityContext",
	"startupProbe",
	"state",
	"tolerations",
	"topologySpreadConstraints",
	"volumeMounts",
	"volumes",
};

static bool is_unread(const char *key, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(unread); i++) {
		if (unread[i][0] == *key && strlen(unread[i]) == len &&
		    memcmp(unread[i], key, len) == 0)
			return true;
	}
	return false;
}

/* Behind the string, object or array that begins at @at; @end where it does not end. */
static const char *end_of_value(const char *at, const char *end)
{
	struct json_scan scan = { .depth = 0 };
	enum json_piece piece;

	do
		at += json_scan_next(&scan, at, (size_t)(end - at), &piece);
	while (at < end && scan.depth > (piece == PIECE_CLOSE));
	return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && json_is_blank(*at))
		at++;
	return at;
}

/* Where the value of the key that ends at @at begins, if it is an object or an array; else NULL. */
static const char *find_tree(const char *at, const char *end)
{
	at = skip_blanks(at, end);
	if (at == end || *at != ':')
		return NULL;
	at = skip_blanks(at + 1, end);
	return at < end && (*at == '{' || *at == '[') ? at : NULL;
}

size_t pod_prune(const char *text, size_t len, char *out)
{
	const char *end = text + len, *copied = text, *at = text;
	char *to = out;

	while ((at = memchr(at, '"', (size_t)(end - at)))) {
		const char *behind = end_of_value(at, end);
		const char *tree = find_tree(behind, end);

		if (tree && is_unread(at + 1, (size_t)(behind - at - 2))) {
			memcpy(to, copied, (size_t)(tree - copied));
			to += tree - copied;
			*to++ = '0';
			behind = copied = end_of_value(tree, end);
		}
		at = behind;
	}
	memcpy(to, copied, (size_t)(end - copied));
	to += end - copied;
	return (size_t)(to - out);
}
