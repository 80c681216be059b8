// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/exporter_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "config/config.h"
#include "doctor/cluster/kube_object.h"

/* Variables of all exporters of OpenTelemetry, without the prefix of Kepler's. */
static const char *const otlp_variables[] = { "OTEL_EXPORTER_OTLP_ENDPOINT",
					      "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT" };

/* --NAME=VALUE or --NAME VALUE; NULL: neither. */
static const char *flag_in(const json_t *words, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (!word || strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, len) != 0)
			continue;
		if (word[2 + len] == '=')
			return word + 2 + len + 1;
		if (!word[2 + len])
			return json_string_value(json_array_get(words, i + 1));
	}
	return NULL;
}

static const json_t *variable_in(const json_t *container, const char *name)
{
	const json_t *env = kube_at(container, "env", KUBE_END);

	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *one = json_array_get(env, i);

		if (strcmp(kube_text(one, "name", KUBE_END), name) == 0)
			return one;
	}
	return NULL;
}

/* From the container itself; NULL: not set there, or *is_hidden. */
static const char *own_value(const json_t *container, const char *name, bool *is_hidden)
{
	const char *flag = flag_in(kube_at(container, "command", KUBE_END), name);
	size_t index = option_find(&config_options, name);
	char variable[128] = "";
	const json_t *found;

	if (!flag)
		flag = flag_in(kube_at(container, "args", KUBE_END), name);
	if (flag || index == OPTION_NONE)
		return flag;
	option_environment_name(&config_options, option_at(&config_options, index), variable,
				sizeof(variable));
	found = variable_in(container, variable);
	*is_hidden |= kube_at(found, "valueFrom", KUBE_END) != NULL;
	return json_string_value(kube_at(found, "value", KUBE_END));
}

struct reading {
	const json_t *container;
	const struct config *config; /* of the file; NULL: none */
	bool hides_some;
};

/* The value of an option, which is not a list, as text, @usual if it is set nowhere. */
static void read_value(struct reading *reading, const char *name, const char *usual, char *buf,
		       size_t size)
{
	const char *own = own_value(reading->container, name, &reading->hides_some);
	size_t index = option_find(&config_options, name);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct option_values *values = reading->config ? &reading->config->options : NULL;

	if (!own && values && values->origins && index != OPTION_NONE &&
	    values->origins[index] == ORIGIN_FILE)
		option_format(option_at(&config_options, index),
			      option_part_of(&config_options, index, values), 0, &text);
	if (text.len)
		own = text.data;
	(void)snprintf(buf, size, "%s", own ? own : usual);
}

static bool sends_otlp(struct reading *reading)
{
	char endpoint[256];
	bool sends;

	read_value(reading, "otlp.endpoint", "", endpoint, sizeof(endpoint));
	sends = endpoint[0] != '\0';
	for (size_t i = 0; i < ARRAY_SIZE(otlp_variables); i++)
		sends |= variable_in(reading->container, otlp_variables[i]) != NULL;
	return sends;
}

static bool sends_remote_write(struct reading *reading)
{
	return own_value(reading->container, "remote-write.url", &reading->hides_some) ||
	       (reading->config && reading->config->push.remote_write.url_count);
}

int exporter_settings_read(const json_t *container, const char *file, size_t len,
			   struct exporter_settings *ret, struct diag *diag)
{
	struct config *config = file ? calloc(1, sizeof(*config)) : NULL;
	struct reading reading = { .container = container };
	int r = file && !config ? -ENOMEM : 0;

	if (config)
		r = config_load_text("its configuration", file, len, config, diag);
	if (config && r == 0)
		reading.config = config;
	*ret = (struct exporter_settings){ .pushes = sends_otlp(&reading) ||
						     sends_remote_write(&reading) };
	read_value(&reading, "kube.pods", "auto", ret->source, sizeof(ret->source));
	read_value(&reading, "metrics.settle", "auto", ret->settle, sizeof(ret->settle));
	ret->are_partial = r < 0 || reading.hides_some ||
			   json_array_size(kube_at(container, "envFrom", KUBE_END)) > 0;
	if (config && r == 0)
		config_release(config);
	free(config);
	return r;
}

/* ---- where the file is ---- */

/* The rest of @path below @folder; "" if it is @folder; NULL: not below it. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len && folder[len - 1] == '/')
		len--;
	if (!*folder || strncmp(path, folder, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

static const json_t *named(const json_t *objects, const char *name)
{
	for (size_t i = 0; i < json_array_size(objects); i++) {
		const json_t *one = json_array_get(objects, i);

		if (strcmp(kube_text(one, "name", KUBE_END), name) == 0)
			return one;
	}
	return NULL;
}

/* The key of the file at @path in a volume; NULL: the volume does not show it. */
static const char *key_of(const json_t *config_map, const char *path)
{
	const json_t *items = kube_at(config_map, "items", KUBE_END);

	if (!items)
		return path;
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *item = json_array_get(items, i);

		if (strcmp(kube_text(item, "path", KUBE_END), path) == 0)
			return kube_text(item, "key", KUBE_END);
	}
	return NULL;
}

static struct settings_place place_in(const json_t *volume, const char *path)
{
	const json_t *map = kube_at(volume, "configMap", KUBE_END);
	const json_t *sources = kube_at(volume, "projected", "sources", KUBE_END);
	struct settings_place place = { .key = map ? key_of(map, path) : NULL };

	if (place.key)
		place.config_map = kube_text(map, "name", KUBE_END);
	for (size_t i = 0; !place.key && i < json_array_size(sources); i++) {
		map = kube_at(json_array_get(sources, i), "configMap", KUBE_END);
		/* One without a list of items shows all its keys: it may have this one. */
		place.key = map ? key_of(map, path) : NULL;
		if (place.key)
			place.config_map = kube_text(map, "name", KUBE_END);
	}
	place.is_elsewhere = !place.key && !kube_at(volume, "configMap", KUBE_END);
	return place;
}

struct settings_place exporter_settings_place(const json_t *pod_spec, const json_t *container)
{
	const json_t *mounts = kube_at(container, "volumeMounts", KUBE_END), *best = NULL;
	bool is_hidden = false;
	const char *path = own_value(container, "config.file", &is_hidden), *sub;
	const char *best_rest = NULL;
	struct settings_place place;

	if (!path)
		path = CONFIG_DEFAULT_FILE;
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *rest = below(path, kube_text(mount, "mountPath", KUBE_END));

		if (rest && (!best_rest || strlen(rest) < strlen(best_rest))) {
			best = mount;
			best_rest = rest;
		}
	}
	if (!best)
		return (struct settings_place){ .is_elsewhere = is_hidden };
	sub = kube_text(best, "subPath", KUBE_END);
	place = place_in(
		named(kube_at(pod_spec, "volumes", KUBE_END), kube_text(best, "name", KUBE_END)),
		*best_rest || !*sub ? best_rest : sub);
	place.is_elsewhere |= is_hidden;
	return place;
}
