// SPDX-License-Identifier: Apache-2.0
#include "bmc/service_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/secret_file.h"

#define FILE_BYTES_MAX (1 << 20)
#define FIELDS_MAX     5
#define SCHEME         "https://"

enum field { FIELD_NODE, FIELD_USER, FIELD_PASSWORD, FIELD_URL, FIELD_INSECURE };

/* A line in parts, without their quotes. */
struct line {
	char fields[FIELDS_MAX][SERVICE_SECRET_MAX];
	size_t count;
};

_Static_assert(SERVICE_URL_MAX >= SERVICE_SECRET_MAX, "a field fits");

int service_url_check(const char *url, struct diag *diag)
{
	size_t scheme = strlen(SCHEME), len = strlen(url);

	while (len > scheme && url[len - 1] == '/')
		len--;
	if (strncmp(url, SCHEME, scheme) != 0)
		return diag_set(diag, -EINVAL,
				"must begin with https://, as in https://10.0.0.5: a password is "
				"not sent without TLS");
	if (len == scheme || len >= SERVICE_URL_MAX ||
	    strcspn(url + scheme, "/?#@\\ ,\"") + scheme < len)
		return diag_set(diag, -EINVAL,
				"must be https://HOST or https://HOST:PORT, without a path");
	for (size_t i = scheme; i < len; i++) {
		if (url[i] <= ' ' || url[i] > '~')
			return diag_set(diag, -EINVAL, "must be printable ASCII");
	}
	return 0;
}

/* One field from @at on, up to a comma or @end: where it ends, or NULL. */
static const char *read_field(const char *at, const char *end, char ret[SERVICE_SECRET_MAX])
{
	bool quoted = at < end && *at == '"';
	size_t len = 0;

	for (at += quoted; at < end; at++) {
		if (quoted && *at == '"' && ++at < end && *at != '"')
			break; /* its end; the quote of two is a character */
		if (at == end || (!quoted && *at == ','))
			break;
		if (!*at || len + 1 == SERVICE_SECRET_MAX)
			return NULL;
		ret[len++] = *at;
	}
	ret[len] = '\0';
	return at < end && *at != ',' ? NULL : at;
}

static int read_line(const char *at, const char *end, struct line *ret)
{
	ret->count = 0;
	while (ret->count < FIELDS_MAX) {
		at = read_field(at, end, ret->fields[ret->count]);
		if (!at)
			return -EINVAL;
		ret->count++;
		if (at == end)
			return 0;
		at++;
	}
	return -EINVAL;
}

/* Two parts are a user and a password of any machine. */
static void shift_short_line(struct line *line)
{
	if (line->count != 2)
		return;
	memcpy(line->fields[FIELD_PASSWORD], line->fields[1], SERVICE_SECRET_MAX);
	memcpy(line->fields[FIELD_USER], line->fields[0], SERVICE_SECRET_MAX);
	(void)snprintf(line->fields[FIELD_NODE], SERVICE_SECRET_MAX, "*");
	line->fields[FIELD_URL][0] = '\0';
	line->count = 4;
}

static int take_line(const struct line *line, const char *url, struct service_target *ret,
		     struct diag *diag)
{
	const char *insecure = line->count > FIELD_INSECURE ? line->fields[FIELD_INSECURE] : "";
	struct service_target target = { .insecure = strcmp(insecure, "insecure") == 0 };
	size_t len;

	if (!*url)
		url = line->fields[FIELD_URL];
	if (!*url)
		return diag_set(diag, -EINVAL,
				"it contains no address, and the option url is not set");
	if (*insecure && !target.insecure)
		return diag_set(diag, -EINVAL, "only \"insecure\" may follow the address");
	if (!line->fields[FIELD_USER][0] || !line->fields[FIELD_PASSWORD][0])
		return diag_set(diag, -EINVAL, "user and password must not be empty");
	if (service_url_check(url, diag) < 0)
		return -EINVAL;
	len = strlen(url);
	while (url[len - 1] == '/')
		len--;
	(void)snprintf(target.url, sizeof(target.url), "%.*s", (int)len, url);
	memcpy(target.user, line->fields[FIELD_USER], sizeof(target.user));
	memcpy(target.password, line->fields[FIELD_PASSWORD], sizeof(target.password));
	*ret = target;
	service_target_wipe(&target);
	return 0;
}

/* The entry that is looked for in a file, and the one that was found. */
struct search {
	const char *node, *url;
	struct service_target *target;
	bool is_any; /* of a line that names no machine */
	bool found;
};

static int take_if_ours(struct search *search, struct line *line, struct diag *diag)
{
	bool is_any;

	shift_short_line(line);
	if (line->count < 4)
		return diag_set(diag, -EINVAL,
				"must be NODE,USER,PASSWORD,https://HOST, or USER,PASSWORD");
	is_any = strcmp(line->fields[FIELD_NODE], "*") == 0;
	if (!is_any && strcmp(line->fields[FIELD_NODE], search->node) != 0)
		return 0;
	if (search->found && search->is_any == is_any)
		return diag_set(diag, -EINVAL, "a second line for the same machine");
	if (search->found && is_any)
		return 0;
	search->found = true;
	search->is_any = is_any;
	return take_line(line, search->url, search->target, diag);
}

int service_target_parse(const char *name, const char *text, size_t len, const char *node,
			 const char *url, struct service_target *ret, struct diag *diag)
{
	struct service_target target = { .url = "" };
	struct search search = { .node = node, .url = url, .target = &target };
	const char *end = text + len;
	struct line line;
	int r = 0;

	for (unsigned number = 1; r == 0 && text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end, *next = newline ? newline + 1 : end;
		struct diag why = { "" };

		if (stop > text && stop[-1] == '\r')
			stop--;
		if (stop > text && *text != '#') {
			r = read_line(text, stop, &line);
			r = r < 0 ? diag_set(&why, r, "cannot be read as a line of CSV")
				  : take_if_ours(&search, &line, &why);
		}
		if (r < 0)
			(void)diag_set(diag, r, "%s:%u: %s", name, number, why.text);
		text = next;
	}
	explicit_bzero(&line, sizeof(line));
	if (r == 0 && !search.found)
		r = diag_set(diag, -ENOENT, "%s: no line for the machine \"%s\"", name, node);
	if (r == 0)
		*ret = target;
	service_target_wipe(&target);
	return r;
}

int service_target_read(const char *path, const char *node, const char *url,
			struct service_target *ret, struct diag *diag)
{
	char *text = NULL;
	size_t len = 0;
	int r = secret_file_check(path, diag);

	if (r < 0)
		return r;
	r = read_file_alloc(path, FILE_BYTES_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, strerror(-r));
	r = service_target_parse(path, text, len, node, url, ret, diag);
	explicit_bzero(text, len);
	free(text);
	return r;
}

void service_target_wipe(struct service_target *target)
{
	explicit_bzero(target, sizeof(*target));
}
