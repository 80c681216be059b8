/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler run`: the loop that turns the monitor (monitor.h) until a signal ends it.
 *
 * Signals arrive through a descriptor, so nothing runs in signal context. SIGHUP reloads the
 * configuration (a bad one is refused, logged, and the old one stays), SIGTERM and SIGINT stop.
 */
#pragma once

/*
 * The command: flags of run in @argv. Returns the exit status: 0 stopped on request, 1 failed, 2
 * bad configuration.
 */
int run_main(int argc, char *const *argv, char *const *environ_);
