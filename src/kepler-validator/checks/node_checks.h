/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of the node: each zone that the machine has, by the machine's own meter. It can be
 * judged while a run goes on, as far as it has come.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* Adds a result for each zone. 0, -ENOMEM or -ENOSPC. */
int check_zones(const struct checking *checking);
