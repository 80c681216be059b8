/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host of a cloud's instance type. Pure.
 *
 * Firmware of Amazon EC2's Nitro guests has the type as the product's name (DMI), as in
 * "m5.large". A family that has a bare-metal size shows how large its hosts are: m5.metal is one of
 * them as a whole. Sizes, processors and cores come from the guide "Amazon EC2 Instance Types",
 * performance specifications of general purpose, compute and memory optimised instances (2024),
 * from its pages on M8, C8 and R8, and full names from /proc/cpuinfo of these machines.
 *
 * Firmware of Azure's and Google's guests names no type, so there is nothing to look up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct instance_host {
	const char *family;
	unsigned cpus;  /* logical, of the bare-metal size */
	unsigned cores; /* physical */
	unsigned sockets;
	const char *processor; /* of each socket */
};

extern const struct instance_host instance_hosts[]; /* a family's largest first */
extern const size_t instance_hosts_count;

/* Returns true if @cpu_model names no processor, as "Intel(R) Xeon(R) Processor", or is empty. */
bool instance_name_is_hidden(const char *cpu_model);
/*
 * The host of a guest with @vcpus, by its DMI @vendor and @product, and by @cpu_model as
 * /proc/cpuinfo has it. Where hosts of a family differ, it is the one with that processor; where
 * its name is hidden, the largest one. Then the guest's share is the least that it can be, and the
 * bound of its estimate is rather too wide than too narrow.
 *
 * NULL where that is not known: another vendor, a family that is not in the table, a processor that
 * its hosts do not have, more vCPUs than the host. Such a type changes nothing.
 */
const struct instance_host *instance_host_find(const char *vendor, const char *product,
					       const char *cpu_model, unsigned vcpus);
