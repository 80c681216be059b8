/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The specifications of upstream's platform validation that pages and the machine can decide, by
 * their numbers: 2-1, a zone of the node has energy if and only if the machine's RAPL has it; 2-2,
 * so do containers. Its third case is node/ZONE of checks.c with a bound; its fourth needs a node
 * without the exporter, and effect_checks.c replaces it.
 */
#pragma once

#include "kepler-validator/checks/checking.h"

/* 0, -ENOMEM or -ENOSPC. */
int check_upstream_specs(const struct checking *checking);
