/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for Landlock (kepler/landlock.h) that a configuration comes to. */
#pragma once

#include "kepler/config.h"

/*
 * Limits what this process may write to host.state-dir, which it makes where it is missing. Before
 * any thread is started. The version of Landlock, or 0 where there is none, which is logged.
 */
int file_limits_enter(const struct config *config);
