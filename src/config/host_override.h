/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from the user that override detected ones, for the power model: --model.machine. */
#pragma once

#include "base/diag.h"
#include "host/host.h"

/*
 * Pure: applies --model.machine
 * ("cores=8,year=2021,memory-gib=32,frequency-ghz=2.4,sockets=1,vm=false") to what was found.
 */
int host_override(const char *text, struct host_info *host, struct diag *diag);
