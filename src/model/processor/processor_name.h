/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a processor as node types of models have it. Pure. */
#pragma once

#include <stddef.h>

/*
 * "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz" → "intel_xeon_e5_2686v4": as machines are named in
 * an index. Text that is named so already stays as it is. Always terminated; cut to @size.
 */
void processor_name(const char *text, char *buf, size_t size);
