// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "modelling/machine_file.h"
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

/* ---- a search ---- */

static int go_on(const struct online_search *search)
{
	return __atomic_load_n(&search->cancelled, __ATOMIC_RELAXED) ? -ECANCELED : 0;
}

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct online_search *search = userdata;
	struct online_instances *found = &search->found;
	const char *name = series_label(labels, "instance");

	for (size_t i = 0; i < found->count; i++) {
		if (strcmp(found->names[i], name) == 0)
			return go_on(search);
	}
	if (found->count == ONLINE_NODES_MAX || strlen(name) >= MODEL_NAME_MAX) {
		found->left_out++;
		return go_on(search);
	}
	(void)snprintf(found->names[found->count++], MODEL_NAME_MAX, "%s", name);
	return go_on(search);
}

static int take_point(void *userdata, const struct series_point *point)
{
	(void)point;
	return go_on(userdata);
}

static void *run_search(void *arg)
{
	struct online_search *search = arg;
	const struct series_sink sink = { take_series, take_point, search };

	search->result = series_read_file(search->path, &sink, &search->diag);
	__atomic_store_n(&search->is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

int online_search_begin(struct online_search *search, const char *path, struct diag *diag)
{
	int err;

	*search = (struct online_search){ .path = strdup(path) };
	if (!search->path)
		return diag_set(diag, -ENOMEM, "out of memory");
	err = pthread_create(&search->thread, NULL, run_search, search);
	search->running = err == 0;
	if (err)
		free(TAKE_PTR(search->path));
	return err ? diag_set(diag, -err, "no thread to read %s: %s", path, strerrordesc_np(err))
		   : 0;
}

bool online_search_is_over(const struct online_search *search)
{
	return __atomic_load_n(&search->is_over, __ATOMIC_ACQUIRE);
}

int online_search_end(struct online_search *search)
{
	if (!search->running)
		return 0;
	__atomic_store_n(&search->cancelled, true, __ATOMIC_RELAXED);
	(void)pthread_join(search->thread, NULL);
	free(TAKE_PTR(search->path));
	search->running = false;
	return search->result;
}
