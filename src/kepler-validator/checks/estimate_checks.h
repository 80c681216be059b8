/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an exporter's estimates with the machine's meters. */
#pragma once

#include "kepler-validator/checks/checking.h"

#define COVERAGE_WINDOWS_LEAST 20

/*
 * Adds coverage/ZONE for each zone that has a published bound and a meter of this machine: does the
 * bound hold as often as it says? 0, -ENOMEM or -ENOSPC.
 */
int check_coverage(const struct checking *checking);
