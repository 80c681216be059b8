/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stressors of stress-ng, if it is installed: arithmetic, products of matrices, a stream through
 * memory, and cache misses. Its bogus operations are the counted work.
 */
#pragma once

#include <stdint.h>

#include "trial/load_kind.h"

extern const struct load_kind load_stress_cpu;
extern const struct load_kind load_stress_matrix;
extern const struct load_kind load_stress_stream;
extern const struct load_kind load_stress_cache;

/* The bogus operations of @stressor in what stress-ng --metrics-brief has printed; 0: none. */
uint64_t stress_ng_operations(const char *text, const char *stressor);
