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
	FRAME_OWNER,   /* a process or the owner of processes */
	FRAME_USER,    /* a function of a program or library */
	FRAME_KERNEL,  /* a function of the kernel */
	FRAME_JIT,     /* a function that a runtime compiled */
	FRAME_INLINED, /* a function that a compiler put into the one that is its caller here */
	FRAME_NOTE,    /* not a function: "[no sample]" */
	FRAME_KINDS,
};

enum profile_run { RUN_NOW, RUN_BEFORE, PROFILE_RUNS };

/* A program or library with functions of the profile. */
struct profile_module {
	const char *path;
	const char *build_id; /* hexadecimal; NULL: not known */
};

struct profile_frame {
	const char *name;
	enum frame_kind kind;
	bool is_placed;  /* a module has been stated */
	uint32_t module; /* 1..module_count; 0: not known, or functions of several have the name */
};

struct profile_node {
	uint32_t parent; /* below the node's own number, but of the root, which is its own */
	uint32_t frame;
	uint64_t samples;                 /* those that energy was shared among */
	uint64_t cpu_ns;                  /* as the energy: of the node itself */
	uint64_t energy_uj[PROFILE_RUNS]; /* of the node itself, without its children */
};

struct profile {
	struct profile_frame *frames; /* [frame_count] */
	uint32_t frame_count, frame_size;
	struct map frame_map;
	struct profile_module *modules; /* [module_count] */
	uint32_t module_count, module_size;
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
/*
 * Adds a program or library; @build_id may be NULL. Its number, from 1; 0 if there is no room.
 */
uint32_t profile_module(struct profile *profile, const char *path, const char *build_id);
/* @frame is a function of @module, which may be 0. */
void profile_place(struct profile *profile, uint32_t frame, uint32_t module);
/*
 * Gives frames other names: @names[frame_count], NULL for those that keep theirs. Frames that are
 * then equal become one, and nodes of equal stacks, with their sums. Numbers of frames and nodes
 * change. 0, or -ENOMEM: nothing has changed.
 */
int profile_rename(struct profile *profile, const char *const *names);
/* The node of @frame below @parent; @parent itself, counted in `cut`, if there is no room. */
uint32_t profile_child(struct profile *profile, uint32_t parent, uint32_t frame);
/* The frames of the node's stack, the innermost first; returns how many, 0 of the root. */
size_t profile_stack(const struct profile *profile, uint32_t node, uint32_t ret[PROFILE_DEPTH_MAX]);
/* The energy of the whole profile. */
uint64_t profile_sum_uj(const struct profile *profile, enum profile_run run);
