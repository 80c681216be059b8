/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kepler vm-energy: the joules of one virtual machine, from its file in --passthrough.dir, for
 * programs such as vhostmd that run a command for each machine.
 */
#pragma once

#include "options/option_set.h"

#define VM_ENERGY_EXIT_NONE  1 /* there is no report of the machine, or an outdated one */
#define VM_ENERGY_EXIT_USAGE 2

extern const struct option_set vm_energy_options;

int vm_energy_main(int argc, char *const *argv, char *const *environ_);
