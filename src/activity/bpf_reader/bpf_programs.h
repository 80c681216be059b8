/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which of the object's programs are loaded. libbpf loads all of an object or nothing, and
 * kernels refuse single programs: a refused program must not cost the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"

struct kepler_bpf;
struct bpf_program;
struct switch_reader;

#define BPF_FLAGS_REFUSED 0x80000000U /* of a program: no kernel knows them; for tests */

/* The purposes of programs. */
enum bpf_part {
	BPF_PART_WALK,     /* threads, of the whole machine, from 6.7 */
	BPF_PART_ITERATE,  /* threads, of the reader's pid namespace, from 5.8 */
	BPF_PART_ENDS,     /* threads that end */
	BPF_PART_EXITS,    /* threads that are about to end */
	BPF_PART_CGROUPS,  /* cgroups that are made */
	BPF_PART_SWITCHES, /* what threads do between context switches; with these two: */
	BPF_PART_THREADS,  /* threads that are made */
	BPF_PART_FLUSH,    /* threads that run now */
	BPF_PARTS
};

struct bpf_programs {
	struct kepler_bpf *skeleton;
	struct bpf_program *parts[BPF_PARTS]; /* NULL: not wanted, or refused */
	int refused[BPF_PARTS];               /* -errno of wanted parts, else 0 */
};

/* From now on what libbpf says goes to the log, at level debug. */
void bpf_programs_log(void);
/*
 * Loads the programs that this kernel accepts; @iterate: whether the iterator is wanted where a
 * walk is possible. Without a walk it always is. @switches: what is counted at context switches, or
 * NULL. 0, or -errno when neither is accepted.
 */
int bpf_programs_load(const struct activity_options *options, bool iterate,
		      const struct switch_reader *switches, struct bpf_programs *ret);
void bpf_programs_unload(struct bpf_programs *programs);
/* A part was loaded, but cannot be attached. */
void bpf_programs_refuse(struct bpf_programs *programs, enum bpf_part part, int err);
/*
 * How many parts are refused, apart from a walk before Linux 6.7. @text: which parts, why, and the
 * consequence; "" for none.
 */
unsigned int bpf_programs_refused(const struct bpf_programs *programs, char *text, size_t size);
/* The number of the v1 controller @name in BPF objects; -1: none, so of the v2 hierarchy. */
int32_t bpf_controller_number(const char *name);
