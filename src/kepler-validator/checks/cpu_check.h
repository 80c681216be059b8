/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporter's CPU time of the node, by both accounts of the kernel. The account by ticks lacks
 * time in virtual machines that their host does not always run. If the accounts disagree, an
 * exporter between them is neither right nor wrong.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* "correctness/cpu-time", if the exporter has CPU time of the node. 0, -ENOMEM or -ENOSPC. */
int check_cpu_time(const struct checking *checking);
