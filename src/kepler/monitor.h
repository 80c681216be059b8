/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler run`: the exporter's life, from start through the loop to a clean end.
 *
 * One thread owns all that changes; see docs/ARCHITECTURE.md. Signals arrive through a descriptor,
 * so nothing runs in signal context. SIGHUP reloads (a bad config keeps the old one and says so),
 * SIGTERM and SIGINT stop.
 */
#pragma once

#include "config/config.h"

/*
 * The command: flags of run in @argv. Returns the exit status: 0 stopped on request, 1 failed, 2
 * bad configuration.
 */
int monitor_main(int argc, char *const *argv, char *const *environ_);
