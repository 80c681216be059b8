// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_own_names.h"

#include <string.h>
#include <strings.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* The loopback's name, and addresses: these say nothing about who owns the rest of a name. */
static bool is_common(const char *label, size_t len)
{
	return (len == strlen("localhost") && strncasecmp(label, "localhost", len) == 0) ||
	       strspn(label, "0123456789") >= len;
}

static bool has_label(const struct http_own_names *own, const char *label, size_t len)
{
	for (size_t i = 0; i < own->label_count; i++) {
		if (strlen(own->labels[i]) == len && strncasecmp(own->labels[i], label, len) == 0)
			return true;
	}
	return false;
}

void http_own_names_add_host(struct http_own_names *own, const char *name)
{
	size_t len = strcspn(name, ".");

	if (len == 0 || len > HTTP_LABEL_MAX || strspn(name, NAME_CHARS) < len ||
	    is_common(name, len) || has_label(own, name, len) ||
	    own->label_count == HTTP_OWN_LABELS)
		return;
	memcpy(own->labels[own->label_count], name, len);
	own->labels[own->label_count++][len] = '\0';
}

void http_own_names_set_namespace(struct http_own_names *own, const char *name)
{
	size_t len = strspn(name, NAME_CHARS);

	own->namespace_[0] = '\0';
	if (len == 0 || len > HTTP_NAMESPACE_MAX || name[len] || strchr(name, '.'))
		return;
	memcpy(own->namespace_, name, len + 1);
}

/* "SERVICE.NAMESPACE.svc.…", and "POD.SERVICE.NAMESPACE.svc.…" of a headless service. */
static bool is_service(const struct http_own_names *own, const char *name, size_t len)
{
	const char *end = name + len, *label = name, *dot;
	size_t namespace_len = strlen(own->namespace_);

	for (unsigned depth = 0; namespace_len && depth < 3; depth++) {
		size_t label_len;

		dot = memchr(label, '.', (size_t)(end - label));
		if (!dot)
			return false;
		label_len = (size_t)(dot - label);
		if (depth > 0 && label_len == namespace_len &&
		    strncasecmp(label, own->namespace_, label_len) == 0 && end - dot > 5 &&
		    strncasecmp(dot, ".svc.", 5) == 0)
			return true;
		label = dot + 1;
	}
	return false;
}

static bool has_found(const struct http_own_names *own, const char *name, size_t len)
{
	size_t count = __atomic_load_n(&own->found_count, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < count; i++) {
		if (strlen(own->found[i]) == len && strncasecmp(own->found[i], name, len) == 0)
			return true;
	}
	return false;
}

bool http_own_names_have(const struct http_own_names *own, const char *name, size_t len)
{
	const char *dot = memchr(name, '.', len);

	return has_label(own, name, dot ? (size_t)(dot - name) : len) ||
	       is_service(own, name, len) || has_found(own, name, len);
}

bool http_own_names_add_found(struct http_own_names *own, const char *name)
{
	size_t len = strlen(name), count = own->found_count;

	while (len && name[len - 1] == '.')
		len--;
	if (len == 0 || len > HTTP_NAME_MAX || strspn(name, NAME_CHARS) < len || name[0] == '.' ||
	    is_common(name, strcspn(name, ".")) || http_own_names_have(own, name, len) ||
	    count == HTTP_FOUND_NAMES)
		return false;
	memcpy(own->found[count], name, len);
	own->found[count][len] = '\0';
	__atomic_store_n(&own->found_count, count + 1, __ATOMIC_RELEASE);
	return true;
}

void http_own_names_describe(const struct http_own_names *own, struct strbuf *out)
{
	size_t count = __atomic_load_n(&own->found_count, __ATOMIC_ACQUIRE);
	const char *before = "";

	for (size_t i = 0; i < own->label_count; i++) {
		strbuf_addf(out, "%s%s, %s.*", before, own->labels[i], own->labels[i]);
		before = ", ";
	}
	if (own->namespace_[0]) {
		strbuf_addf(out, "%s*.%s.svc.*", before, own->namespace_);
		before = ", ";
	}
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(out, "%s%s", before, own->found[i]);
		before = ", ";
	}
}
