/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the exporter starts and ends, and one interval of it. */
#pragma once

#include "kepler/monitor.h"

/* A loop that stands still for longer hangs. */
uint64_t monitor_hang_limit_ns(const struct config *config);
void monitor_enter_step(struct monitor *monitor, enum loop_step step);
void monitor_run_interval(struct monitor *monitor);
/* Serves what kepler stat has asked for. */
void monitor_follow_stats(struct monitor *monitor);
/* Counts and logs that the state file was not read or written. */
void monitor_note_state(struct monitor *monitor, enum idle_outcome outcome,
			const struct diag *diag);
/* Up to the first snapshot. 0, or -errno, which was logged; monitor_finish() is due in any case. */
int monitor_start(struct monitor *monitor);
void monitor_finish(struct monitor *monitor);
/* Logs the exporter's URL, and the sources of energy and processes. */
void monitor_log_start(struct monitor *monitor);
