/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The management library of Intel's Gaudi: the functions that are called here, with declarations of
 * our own, after the public "HLML C API Reference". Names, types and numbers are the ABI's.
 */
#pragma once

#include "gpu/vendor_library.h"

#define HLML_LIBRARY_NAME   "libhlml.so"
#define HLML_LIBRARY_FOLDER "/usr/lib/habanalabs" /* where its packages put it */

struct hlml_utilization {
	unsigned accelerator; /* per cent */
};

struct hlml_library {
	struct vendor_library common;
	int (*utilization)(vendor_device device, struct hlml_utilization *ret);
};

extern const struct vendor_function hlml_functions[];
extern const size_t hlml_function_count;
