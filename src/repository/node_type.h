/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node types: the kinds of machine that the models of a pipeline were trained on, by number, as
 * node_type_index.json has them; how a processor is named there; and how like two machines are.
 *
 * Upstream compares processors by the letters that they have in common, and takes the most similar
 * type however unlike it is. Here they are compared word by word, and the answer says by how much
 * it may miss. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
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

/* 0, or -EINVAL with what is wrong in the file @name; -ENOMEM. */
int node_types_parse(const char *name, const char *text, size_t size, struct node_types *ret,
		     struct diag *diag);
void node_types_release(struct node_types *types);
/* NULL: there is none of that number. */
const struct node_type *node_types_find(const struct node_types *types, int32_t number);

/*
 * "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz" → "intel_xeon_e5_2686v4": as machines are named in
 * an index. Text that is named so already stays as it is. Always terminated; cut to @size.
 */
void processor_name(const char *text, char *buf, size_t size);

/* {"processor": …, "cores": …, "chips": …, "memory": …, "frequency": …}, and back. */
void machine_spec_read(const json_t *object, struct machine_spec *ret);
json_t *machine_spec_write(const struct machine_spec *machine); /* NULL: no memory */
bool machine_spec_is_empty(const struct machine_spec *machine);

enum machine_match {
	MATCH_EXACT,     /* all that is asked for is the same */
	MATCH_PROCESSOR, /* the same processor, in another machine */
	MATCH_FAMILY,    /* processors of one family: their names begin alike */
	MATCH_OTHER,     /* any other machine, or nothing is known */
	MATCH_COUNT
};

struct machine_likeness {
	enum machine_match match;
	double looseness;   /* 0 … 1: how unlike the machines are in what is known */
	double uncertainty; /* 0 … 1: weight of what is not known of the one that asks */
};

/* Of @machine, for which a model is asked, to the machine of a model. */
struct machine_likeness machine_likeness(const struct machine_spec *machine,
					 const struct machine_spec *model);
/* "exact", "processor", … */
const char *machine_match_name(enum machine_match match);
