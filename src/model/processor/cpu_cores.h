/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores of one package by CPU model: facts as vendors publish them.
 */
#pragma once

#include <stddef.h>

struct cpu_cores {
	const char *key; /* cpu_name.h */
	unsigned cores;
};

extern const struct cpu_cores cpu_cores[]; /* by key, in the order of strcmp() */
extern const size_t cpu_cores_count;
