// SPDX-License-Identifier: Apache-2.0
#include "repository/node_type.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "repository/model_json.h"

/* Parts of 8, as upstream weighs them. */
#define WEIGHT_PROCESSOR 5.0
#define WEIGHT_CORES     1.0
#define WEIGHT_CHIPS     1.0
#define WEIGHT_MEMORY    0.5
#define WEIGHT_FREQUENCY 0.5
#define WEIGHT_ALL       8.0

/* ---- specs ---- */

void machine_spec_read(const json_t *object, struct machine_spec *ret)
{
	*ret = (struct machine_spec){
		.cores = model_json_u32(object, "cores", 0),
		.chips = model_json_u32(object, "chips", 0),
		.memory_gb = model_json_u32(object, "memory", 0),
		.frequency_mhz = model_json_u32(object, "frequency", 0),
		.threads_per_core = model_json_u32(object, "threads_per_core", 0),
	};
	processor_name(model_json_text(object, "processor"), ret->processor,
		       sizeof(ret->processor));
	(void)snprintf(ret->vendor, sizeof(ret->vendor), "%s", model_json_text(object, "vendor"));
}

static void set_known(json_t *object, const char *key, uint32_t value)
{
	if (value)
		(void)json_object_set_new(object, key, json_integer(value));
}

json_t *machine_spec_write(const struct machine_spec *machine)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	if (machine->vendor[0])
		(void)json_object_set_new(object, "vendor", json_string(machine->vendor));
	if (machine->processor[0])
		(void)json_object_set_new(object, "processor", json_string(machine->processor));
	set_known(object, "cores", machine->cores);
	set_known(object, "chips", machine->chips);
	set_known(object, "memory", machine->memory_gb);
	set_known(object, "frequency", machine->frequency_mhz);
	set_known(object, "threads_per_core", machine->threads_per_core);
	return object;
}

bool machine_spec_is_empty(const struct machine_spec *machine)
{
	return !machine->processor[0] && !machine->cores && !machine->chips &&
	       !machine->memory_gb && !machine->frequency_mhz;
}

/* ---- the index ---- */

static int read_type(const char *name, const char *key, const json_t *value, struct node_type *ret,
		     struct diag *diag)
{
	const json_t *members = json_object_get(value, "members");
	uint64_t number;

	if (parse_u64(key, strlen(key), &number) < 0 || number > INT32_MAX)
		return diag_set(diag, -EINVAL, "%s: a node type must be a number", name);
	if (!json_is_object(json_object_get(value, "attrs")))
		return diag_set(diag, -EINVAL, "%s: node type %llu has no \"attrs\"", name,
				(unsigned long long)number);
	if (json_array_size(members) > NODE_MEMBERS_MAX)
		return diag_set(diag, -EINVAL, "%s: node type %llu has too many members", name,
				(unsigned long long)number);
	ret->number = (int32_t)number;
	ret->members = json_array_size(members);
	machine_spec_read(json_object_get(value, "attrs"), &ret->machine);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int32_t one = ((const struct node_type *)a)->number;
	int32_t other = ((const struct node_type *)b)->number;

	return (one > other) - (one < other);
}

int node_types_parse(const char *name, const char *text, size_t size, struct node_types *ret,
		     struct diag *diag)
{
	CLEANUP(model_json_release) json_t *object = model_json_parse(name, text, size, diag);
	CLEANUP(node_types_release) struct node_types types = { 0 };
	const char *key;
	json_t *value;

	if (!object)
		return -EINVAL;
	if (json_object_size(object) > NODE_TYPES_MAX)
		return diag_set(diag, -EINVAL, "%s: more than %d node types", name, NODE_TYPES_MAX);
	types.types = calloc(json_object_size(object) + 1, sizeof(*types.types));
	if (!types.types)
		return diag_set(diag, -ENOMEM, "out of memory");
	json_object_foreach(object, key, value)
	{
		int r = read_type(name, key, value, &types.types[types.count], diag);

		if (r < 0)
			return r;
		types.count++;
	}
	qsort(types.types, types.count, sizeof(*types.types), by_number);
	*ret = types;
	memset(&types, 0, sizeof(types));
	return 0;
}

void node_types_release(struct node_types *types)
{
	free(types->types);
	*types = (struct node_types){ 0 };
}

const struct node_type *node_types_find(const struct node_types *types, int32_t number)
{
	const struct node_type key = { .number = number };

	return types->count ? bsearch(&key, types->types, types->count, sizeof(key), by_number)
			    : NULL;
}

double machine_spec_unknown(const struct machine_spec *machine)
{
	double known = 0;

	known += machine->processor[0] ? WEIGHT_PROCESSOR : 0;
	known += machine->cores ? WEIGHT_CORES : 0;
	known += machine->chips ? WEIGHT_CHIPS : 0;
	known += machine->memory_gb ? WEIGHT_MEMORY : 0;
	known += machine->frequency_mhz ? WEIGHT_FREQUENCY : 0;
	return 1 - known / WEIGHT_ALL;
}
