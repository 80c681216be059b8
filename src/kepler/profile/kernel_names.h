/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for functions of the kernel. To read /proc/kallsyms takes some 70 ms of CPU time, so it is
 * read when the profile is over: until then a frame is an address. A long profile with very many of
 * them reads it earlier, so that its stacks do not fill the profile.
 */
#pragma once

#include "base/map.h"
#include "profile/profile.h"
#include "profile/symbol_table.h"

#define KERNEL_ADDRESSES_MAX 16384U

struct kernel_frame {
	uint64_t address;
	uint32_t frame;
};

struct kernel_names {
	const char *path;            /* "/proc/kallsyms" */
	struct kernel_frame *frames; /* [count]: those that have no name yet */
	uint32_t count, size;
	struct map by_address;
	struct symbol_table table;
	bool is_read;
};

void kernel_names_init(struct kernel_names *names, const char *path);
void kernel_names_release(struct kernel_names *names);
/* A frame for @address, whose name is known after kernel_names_settle(). */
uint32_t kernel_names_frame(struct kernel_names *names, struct profile *profile, uint64_t address);
/*
 * Gives all frames their names: "[kernel]" if the kernel hides its addresses, or it is not known.
 * Numbers of frames and nodes change. 0 or -ENOMEM: then they keep their addresses.
 */
int kernel_names_settle(struct kernel_names *names, struct profile *profile);
