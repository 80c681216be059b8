/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts in the name of a CPU about the power of its machine: the key of the model in tables, its
 * thermal design power, its cores, and the kind of server that it is made for. Pure.
 *
 * Names come as /proc/cpuinfo has them ("Intel(R) Xeon(R) CPU E5-2660 v2 @ 2.20GHz") or as node
 * types of models are named ("intel_xeon_e5_2660v2"); both make the key "xeone52660v2".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CPU_KEY_MAX 24

/* The servers that a series of CPUs is made for. */
enum cpu_segment {
	CPU_SEGMENT_OTHER,    /* all others: most servers with two sockets */
	CPU_SEGMENT_SMALL,    /* one socket, on a desktop's platform: Xeon E3, E, X34xx */
	CPU_SEGMENT_EXPANDED, /* buffered memory: Xeon E7, X75xx, Opteron 8000 */
	CPU_SEGMENT_ENTRY,    /* two sockets at low cost: Xeon E5-24xx, Opteron 4000 */
	CPU_SEGMENT_QUAD,     /* four sockets without buffers: Xeon E5-46xx, Opteron 6000 */
	CPU_SEGMENT_EDGE,     /* EPYC 8004 */
	CPU_SEGMENT_BUS,      /* two sockets on a front-side bus: Xeon 5200 to 5400 */
	CPU_SEGMENT_COUNT
};

struct cpu_name {
	char key[CPU_KEY_MAX]; /* series and model; "": the name has no model */
	enum cpu_segment segment;
	unsigned tdp_w; /* of one package, 0 unknown */
	unsigned cores; /* physical, of one package, 0 unknown */
	unsigned year;  /* class: when its family came to servers; 0 unknown */
	bool low_power; /* a variant of its series that is sold as such */
	bool desktop;   /* a series for desktops, laptops or embedded systems */
};

/* Any text; facts that it lacks are 0, false, "" or CPU_SEGMENT_OTHER. */
void cpu_name_read(const char *name, struct cpu_name *ret);
