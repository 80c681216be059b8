/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of an exporter's pages that do not depend on the energy: numbers that stand still, levels
 * that vanish, more CPU time than the machine has, processes that do not exist or have another
 * name, and descriptions of something else.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* 0, -ENOMEM or -ENOSPC. */
int check_pages(const struct checking *checking);
