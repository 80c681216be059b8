/* SPDX-License-Identifier: Apache-2.0 */
/* What a snapshot says of estimates in a virtual machine, and of the host that they assume. */
#pragma once

#include "estimate/estimated_meter.h"
#include "estimate/model_meter.h"
#include "host/host.h"
#include "snapshot/snapshot.h"

/*
 * Where the number of the host's CPUs is from: "option" (--vm.host-cpus), "instance_type", "model"
 * (the machine of a trained one, if the estimate is made @by_model), "processor" (its name says the
 * cores of a socket), or "typical" (a host of that year). A machine with more CPUs than that has a
 * host of its own size.
 */
const char *vm_picture_cpus_source(const struct host_info *host, bool by_model);
/*
 * @models, @estimate and @host may be NULL. NaN, where nothing is estimated of a virtual machine.
 */
void vm_picture_self(const struct model_meter *models, const struct estimated_meter *estimate,
		     const struct host_info *host, struct snapshot_self *self);
