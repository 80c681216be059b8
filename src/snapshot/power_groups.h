/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of a picture of power that are no levels of the ledger (attribution/view_info.h):
 * services, users and GPUs. They are made from all rows of the ledger, not only from those that the
 * picture shows, and in a picture with power_whole only: in others, all is in `other`.
 */
#pragma once

#include "snapshot/power_counting.h"
#include "snapshot/power_types.h"

/*
 * Adds them to the picture, which has its levels. @charged_uw: to all owners. Without memory, and
 * while the users of processes are not known, the view has all of it in `other`.
 */
void power_groups_take(const struct counting *counting, uint64_t charged_uw,
		       struct power_scratch *scratch, struct power_picture *picture);
