/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node types: the kinds of machine that the models of a pipeline were trained on, by number, as
 * node_type_index.json has them, and how a processor is named there. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/processor/processor_name.h"
#include "model/trained_model.h"

#define NODE_TYPES_MAX   10000
#define NODE_MEMBERS_MAX 100000

struct node_type {
	int32_t number;
	struct machine_spec machine;
	size_t members; /* machines of this type */
};

struct node_types {
	struct node_type *types; /* in the order of their numbers */
	size_t count;
};

/* 0, or -EINVAL with a diagnosis of the file @name; -ENOMEM. */
int node_types_parse(const char *name, const char *text, size_t size, struct node_types *ret,
		     struct diag *diag);
void node_types_release(struct node_types *types);
/* NULL: no type has that number. */
const struct node_type *node_types_find(const struct node_types *types, int32_t number);

/* {"processor": …, "cores": …, "chips": …, "memory": …, "frequency": …}, and back. */
void machine_spec_read(const json_t *object, struct machine_spec *ret);
json_t *machine_spec_write(const struct machine_spec *machine); /* NULL: no memory */
bool machine_spec_is_empty(const struct machine_spec *machine);

/* The part, 0 … 1, of the facts for choosing a model that @machine lacks. */
double machine_spec_unknown(const struct machine_spec *machine);
