/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the host of a virtual machine that no guest can see: from the user (--vm.…), and else
 * from the instance type that the firmware names. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "host/host.h"

/* --vm.neighbour-load: "0.2-0.6", or one number, both 0..1. 0, or -EINVAL with @diag. */
int vm_hints_check_load(const char *text, struct diag *diag);
/* The options, which have been checked. */
struct vm_options {
	char *host_processor, *neighbour_load; /* host_processor "": unknown */
	uint32_t host_cpus;                    /* 0 unknown */
};

/*
 * Adds the hints, and facts that follow from the instance type, to the facts of the machine.
 * Outside a virtual machine they have no effect.
 */
void vm_hints_apply(const struct vm_options *options, struct host_info *host);
