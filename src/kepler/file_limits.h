/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for Landlock (service/landlock.h) that a configuration comes to. */
#pragma once

#include "kepler/config.h"

/*
 * Limits what this process may write to host.state-dir, which it makes where it is missing, and
 * what it may read in private places to what options name: files, with those that a kubeconfig
 * names in turn, and folders. A path that does not answer within 5 s is left alone; three of those,
 * and nothing is limited. Before any other thread is started. The version of Landlock, or 0 where
 * nothing is limited, which is logged.
 */
int file_limits_enter(const struct config *config);
