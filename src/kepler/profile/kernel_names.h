/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for functions of the kernel, from /proc/kallsyms, which is read with the first of them. */
#pragma once

#include "profile/profile.h"
#include "profile/symbol_table.h"

struct kernel_names {
	const char *path; /* "/proc/kallsyms" */
	struct symbol_table table;
	bool is_read;
};

void kernel_names_release(struct kernel_names *names);
/* The frame "[kernel]" if the kernel hides its addresses, or it is not known. */
uint32_t kernel_names_frame(struct kernel_names *names, struct profile *profile, uint64_t address);
