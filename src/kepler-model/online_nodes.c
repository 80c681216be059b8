// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/online_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "kepler-model/machine_file.h"
#include "repository/model_json.h"
#include "repository/node_type.h"
#include "samples/series_reader.h"

#define FILE_MAX (1U << 20)

static int add_node(const char *path, const char *name, const json_t *spec,
		    struct online_nodes *ret, struct diag *diag)
{
	struct machine_spec *machine = &ret->machines[ret->count];

	if (ret->count == ONLINE_NODES_MAX)
		return diag_set(diag, -ENOSPC, "%s: more than %d nodes", path, ONLINE_NODES_MAX);
	if (!*name || strlen(name) >= MODEL_NAME_MAX)
		return diag_set(diag, -EINVAL, "%s: a node's name is empty or too long", path);
	machine_spec_read(spec, machine);
	if (machine_spec_is_empty(machine))
		return diag_set(diag, -EINVAL,
				"%s: %s: has none of processor, cores, chips, memory, frequency",
				path, name);
	(void)snprintf(ret->names[ret->count++], MODEL_NAME_MAX, "%s", name);
	return 0;
}

int online_nodes_read(const char *path, struct online_nodes *ret, struct diag *diag)
{
	CLEANUP(model_json_release) json_t *object = NULL;
	CLEANUP_FREE char *text = NULL;
	const char *key;
	json_t *value;
	size_t len = 0;
	int r;

	ret->count = 0;
	if (!*path) {
		(void)snprintf(ret->names[0], MODEL_NAME_MAX, "*");
		machine_file_discover(&ret->machines[0]);
		ret->count = 1;
		return 0;
	}
	r = read_file_alloc(path, FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	object = model_json_parse(path, text, len, diag);
	if (!object)
		return -EINVAL;
	json_object_foreach(object, key, value)
	{
		if (r == 0)
			r = add_node(path, key, value, ret, diag);
	}
	return r == 0 && !ret->count ? diag_set(diag, -EINVAL, "%s: has no node", path) : r;
}

const struct machine_spec *online_nodes_find(const struct online_nodes *nodes, const char *name)
{
	const struct machine_spec *others = NULL;

	for (size_t i = 0; i < nodes->count; i++) {
		if (strcmp(nodes->names[i], name) == 0)
			return &nodes->machines[i];
		if (strcmp(nodes->names[i], "*") == 0)
			others = &nodes->machines[i];
	}
	return others;
}

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct online_instances *instances = userdata;
	const char *name = series_label(labels, "instance");

	for (size_t i = 0; i < instances->count; i++) {
		if (strcmp(instances->names[i], name) == 0)
			return 0;
	}
	if (instances->count == ONLINE_NODES_MAX || strlen(name) >= MODEL_NAME_MAX) {
		instances->left_out++;
		return 0;
	}
	(void)snprintf(instances->names[instances->count++], MODEL_NAME_MAX, "%s", name);
	return 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	(void)userdata;
	(void)point;
	return 0;
}

int online_instances_find(const char *path, struct online_instances *ret, struct diag *diag)
{
	const struct series_sink sink = { take_series, take_point, ret };

	ret->count = 0;
	ret->left_out = 0;
	return series_read_file(path, &sink, diag);
}
