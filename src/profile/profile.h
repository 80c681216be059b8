/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks with their energy, as a tree: a node is a frame below the node of its caller, and has the
 * energy of the samples whose innermost frame it is. So the sum over all nodes is the energy of the
 * profile, in integers: nothing is rounded (sample_share.h). Pure; one thread.
 *
 * A node has two values where two runs are compared: of this run and of the one before.
 *
 * Names are untrusted bytes. A frame has them clean: no control characters, no invalid UTF-8 and no
 * semicolon, which separates frames in the folded format; "?" or ":" takes their place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define PROFILE_ROOT      0U
#define PROFILE_NAME_MAX  512 /* bytes of a frame's name; what is longer is cut */
#define PROFILE_DEPTH_MAX 512

enum frame_kind {
	FRAME_OWNER,  /* a process or the owner of processes */
	FRAME_USER,   /* a function of a program or library */
	FRAME_KERNEL, /* a function of the kernel */
	FRAME_JIT,    /* a function that a runtime compiled */
	FRAME_NOTE,   /* not a function: "[no sample]" */
	FRAME_KINDS,
};

enum profile_run { RUN_NOW, RUN_BEFORE, PROFILE_RUNS };

struct profile_frame {
	const char *name;
	enum frame_kind kind;
};

struct profile_node {
	uint32_t parent; /* below the node's own number, but of the root, which is its own */
	uint32_t frame;
	uint64_t samples;
	uint64_t energy_uj[PROFILE_RUNS]; /* of the node itself, without its children */
};

struct profile {
	struct profile_frame *frames; /* [frame_count] */
	uint32_t frame_count, frame_size;
	struct map frame_map;
	struct profile_node *nodes; /* [node_count], parents before their children */
	uint32_t node_count, node_size;
	struct map node_map;
	uint32_t limit;   /* of nodes, and of frames */
	uint64_t cut;     /* times that a frame was left out because of it */
	bool is_compared; /* RUN_BEFORE has values */
};

/* At most @limit nodes. 0 or -ENOMEM; profile_release() is due in either case. */
int profile_init(struct profile *profile, uint32_t limit);
void profile_release(struct profile *profile);

/* The number of the frame of that name and kind; 0, the frame of the root, if there is no room. */
uint32_t profile_frame(struct profile *profile, const char *name, enum frame_kind kind);
/* The node of @frame below @parent; @parent itself, counted in `cut`, if there is no room. */
uint32_t profile_child(struct profile *profile, uint32_t parent, uint32_t frame);
/* The frames of the node's stack, the innermost first; returns how many, 0 of the root. */
size_t profile_stack(const struct profile *profile, uint32_t node, uint32_t ret[PROFILE_DEPTH_MAX]);
/* The energy of the whole profile. */
uint64_t profile_sum_uj(const struct profile *profile, enum profile_run run);
