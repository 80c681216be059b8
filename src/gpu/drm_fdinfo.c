// SPDX-License-Identifier: Apache-2.0
#include "gpu/drm_fdinfo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/* A line "KEY:\tVALUE". */
struct line {
	const char *key, *value;
	size_t key_len, value_len;
};

/* The known values of an engine so far: its values are on several lines, in any order. */
struct partial_engine {
	struct drm_engine engine;
	bool has_own_cycles, has_total_cycles;
};

struct partial {
	struct partial_engine engines[DRM_ENGINES_MAX];
	size_t count, beyond;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool split(const char *text, size_t len, struct line *ret)
{
	const char *colon = memchr(text, ':', len);

	if (!colon)
		return false;
	*ret = (struct line){ text, colon + 1, (size_t)(colon - text),
			      len - (size_t)(colon - text) - 1 };
	while (ret->value_len && is_blank(*ret->value)) {
		ret->value++;
		ret->value_len--;
	}
	while (ret->value_len && is_blank(ret->value[ret->value_len - 1]))
		ret->value_len--;
	return true;
}

static bool is_key(const struct line *line, const char *key)
{
	return line->key_len == strlen(key) && memcmp(line->key, key, line->key_len) == 0;
}

/* Returns true if the key is @prefix and a name, and the name with its length. */
static const char *name_behind(const struct line *line, const char *prefix, size_t *ret_len)
{
	size_t len = strlen(prefix);

	if (line->key_len <= len || memcmp(line->key, prefix, len) != 0 ||
	    line->key_len - len >= DRM_ENGINE_NAME_MAX)
		return NULL;
	*ret_len = line->key_len - len;
	return line->key + len;
}

/* A number, followed by @unit unless that is "". */
static bool take_number(const struct line *line, const char *unit, uint64_t *ret)
{
	size_t digits = 0, at;

	while (digits < line->value_len && line->value[digits] >= '0' && line->value[digits] <= '9')
		digits++;
	at = digits;
	while (at < line->value_len && is_blank(line->value[at]))
		at++;
	return line->value_len - at == strlen(unit) &&
	       memcmp(line->value + at, unit, strlen(unit)) == 0 &&
	       parse_u64(line->value, digits, ret) == 0;
}

static bool take_text(const struct line *line, char *ret, size_t size)
{
	if (!line->value_len || line->value_len >= size ||
	    memchr(line->value, '\0', line->value_len))
		return false;
	memcpy(ret, line->value, line->value_len);
	ret[line->value_len] = '\0';
	return true;
}

static struct partial_engine *engine_of(struct partial *partial, const char *name, size_t len)
{
	struct partial_engine *engine;

	for (size_t i = 0; i < partial->count; i++) {
		engine = &partial->engines[i];
		if (strlen(engine->engine.name) == len &&
		    memcmp(engine->engine.name, name, len) == 0)
			return engine;
	}
	if (partial->count == DRM_ENGINES_MAX || memchr(name, '\0', len)) {
		partial->beyond++;
		return NULL;
	}
	engine = &partial->engines[partial->count++];
	*engine = (struct partial_engine){ .engine.capacity = 1 };
	memcpy(engine->engine.name, name, len);
	return engine;
}

/* "drm-engine-capacity-" is looked for first, because "drm-engine-" begins so, too. */
static void take_engine(struct partial *partial, const struct line *line)
{
	struct partial_engine *engine;
	const char *name;
	uint64_t value;
	size_t len;

	if ((name = name_behind(line, "drm-engine-capacity-", &len))) {
		if (take_number(line, "", &value) && value &&
		    (engine = engine_of(partial, name, len)))
			engine->engine.capacity = value;
	} else if ((name = name_behind(line, "drm-engine-", &len))) {
		if (take_number(line, "ns", &value) && (engine = engine_of(partial, name, len))) {
			engine->engine.has_busy_ns = true;
			engine->engine.busy_ns = value;
		}
	} else if ((name = name_behind(line, "drm-total-cycles-", &len))) {
		if (take_number(line, "", &value) && (engine = engine_of(partial, name, len))) {
			engine->has_total_cycles = true;
			engine->engine.total_cycles = value;
		}
	} else if ((name = name_behind(line, "drm-cycles-", &len))) {
		if (take_number(line, "", &value) && (engine = engine_of(partial, name, len))) {
			engine->has_own_cycles = true;
			engine->engine.cycles = value;
		}
	}
}

/* Engines that say how long they worked; a capacity alone, or cycles without all, is nothing. */
static void keep_usable(const struct partial *partial, struct drm_fdinfo *info)
{
	info->beyond = partial->beyond;
	for (size_t i = 0; i < partial->count; i++) {
		const struct partial_engine *engine = &partial->engines[i];
		bool has_cycles = engine->has_own_cycles && engine->has_total_cycles;

		if (!engine->engine.has_busy_ns && !has_cycles)
			continue;
		info->engines[info->engine_count] = engine->engine;
		info->engines[info->engine_count++].has_cycles = has_cycles;
	}
}

int drm_fdinfo_parse(const char *text, size_t len, struct drm_fdinfo *ret)
{
	struct drm_fdinfo info = { 0 };
	struct partial partial = { .count = 0 };
	bool has_client = false;

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line_len = end ? (size_t)(end - text) : len;
		struct line line;

		if (split(text, line_len, &line)) {
			if (is_key(&line, "drm-driver"))
				(void)take_text(&line, info.driver, sizeof(info.driver));
			else if (is_key(&line, "drm-pdev"))
				(void)take_text(&line, info.address, sizeof(info.address));
			else if (is_key(&line, "drm-client-id"))
				has_client |= take_number(&line, "", &info.client_id);
			else
				take_engine(&partial, &line);
		}
		text += line_len + !!end;
		len -= line_len + !!end;
	}
	if (!info.driver[0] || !has_client)
		return -ENODATA;
	keep_usable(&partial, &info);
	*ret = info;
	return 0;
}
