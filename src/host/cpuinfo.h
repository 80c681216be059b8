/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the processors from /proc/cpuinfo, on x86 and arm64. Pure: a text in, facts out;
 * unknown is 0 or "".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpuinfo {
	char vendor[32]; /* "GenuineIntel"; on arm64 the implementer's name: "ARM", "Ampere" */
	char model[64];  /* "AMD EPYC 7763 64-Core Processor" */
	unsigned family, model_number, stepping; /* on arm64: implementer, part, variant */
	unsigned cpus;                           /* entries: online logical CPUs */
	unsigned cores, sockets;                 /* 0: not in the file */
	bool hypervisor;                         /* the CPU reports that it is virtual (x86) */
	bool tdx_guest;                          /* the kernel reports that it runs in a TD */
};

/* @text is terminated. 0 or -ENOMEM. */
int cpuinfo_parse(const char *text, struct cpuinfo *ret);

/* A logical CPU: its number, and the numbers of its package and core. */
#define CPU_NUMBER_NONE UINT32_MAX /* not in the file: arm64 says neither package nor core */
struct cpuinfo_cpu {
	uint32_t processor, package, core;
};
/* The first 8,192 in @text, in its order; *ret is given, release with free(). 0 or -ENOMEM. */
int cpuinfo_list(const char *text, struct cpuinfo_cpu **ret, size_t *ret_count);
