/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the virtual machine that --scenario=vm starts. */
#pragma once

#include "options/option_set.h"
#include "trial/guest_machine.h"

struct guest_flags {
	char *kernel, *initrd, *append;
	int accel;
	uint32_t cpus, memory_mib;
};

/* Rows of struct guest_flags. */
#define GUEST_FLAG_COUNT 6
extern const struct option guest_flag_rows[GUEST_FLAG_COUNT];

/* Their values; the texts are borrowed. */
struct guest_options guest_flags_options(const struct guest_flags *flags);
