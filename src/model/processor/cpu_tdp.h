/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thermal design power by CPU model: facts as vendors publish them.
 */
#pragma once

#include <stddef.h>

struct cpu_tdp {
	const char *key; /* cpu_name.h */
	unsigned watts;  /* of one package */
};

extern const struct cpu_tdp cpu_tdps[]; /* by key, in the order of strcmp() */
extern const size_t cpu_tdp_count;
