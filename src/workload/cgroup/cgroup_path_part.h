/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a cgroup path: untrusted bytes, not terminated. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_LEN 64 /* hexadecimal digits of the id that most runtimes use */

struct part {
	const char *text;
	size_t len;
};

/* The next component from *at on, without its slashes; false at the end. */
bool part_next(const char **at, const char *end, struct part *ret);
/* path[0..len) without what the kernel appends to the path of a removed cgroup. */
size_t path_without_deleted(const char *path, size_t len);

bool part_is(struct part part, const char *text);
/* Begins or ends with that and has more. */
bool part_starts(struct part part, const char *prefix);
bool part_ends(struct part part, const char *suffix);
/* The text between @prefix and @suffix ("": no such suffix); false if either is missing. */
bool part_between(struct part part, const char *prefix, const char *suffix, struct part *ret);
/* Splits at the first @c; false when there is none. */
bool part_split(struct part part, char c, struct part *ret_before, struct part *ret_after);

bool part_is_decimal(struct part part);           /* 1 to 10 digits */
bool part_is_hex(struct part part, size_t len);   /* exactly @len lower-case digits */
bool part_is_uuid(struct part part, char dash);   /* 8-4-4-4-12 lower-case digits */
bool part_is_alnum(struct part part, size_t len); /* exactly @len of a-z0-9 */

/* Terminated copy of what fits; systemd's \xNN is undone. Returns its length. */
size_t part_unescape(struct part part, char *buf, size_t size);
