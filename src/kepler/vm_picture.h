/* SPDX-License-Identifier: Apache-2.0 */
/* What a snapshot says of estimates in a virtual machine, and of the host that they assume. */
#pragma once

#include "meter/meter.h"
#include "meter/model_meter.h"
#include "snapshot/snapshot.h"

/* Either may be NULL. NaN, where nothing is estimated of a virtual machine. */
void vm_picture_self(const struct model_meter *models, const struct estimated_meter *estimate,
		     struct snapshot_self *self);
