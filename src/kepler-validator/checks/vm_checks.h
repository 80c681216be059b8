/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine at its host: the CPU time that an exporter shows of it, compared with the CPU
 * time of its process; and the energy that an exporter inside it shows, compared with what the
 * host's exporter charges to it, which is the host's account and no measurement.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* "vm/cpu-time", if there is a machine. 0, -ENOMEM or -ENOSPC. */
int check_vm_cpu(const struct checking *checking);
/* "guest/ZONE" for each zone that the guest's exporter and the first one have in common. */
int check_guest(struct observation *observation, const struct check_bounds *bounds,
		struct result_list *ret);
