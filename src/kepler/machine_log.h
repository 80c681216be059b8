/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages about the configuration, and about how processes are read on this machine. */
#pragma once

#include <stdbool.h>

#include "config/config.h"
#include "engine/session.h"

/* The parts of the configuration that were ignored, and why. */
void machine_log_warnings(const struct config *config);
/* At the start: the parts of the machine that are not visible, and the consequences. */
void machine_log_start(const struct session *session);
/* Once, when a process is found that BPF cannot see. @logged is false at first. */
void machine_log_unseen(const struct session *session, bool *logged);
