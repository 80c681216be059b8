/* SPDX-License-Identifier: Apache-2.0 */
/* The Landlock rules (service/landlock.h) of a configuration. */
#pragma once

#include "config/config.h"

/*
 * Limits writes of this process to host.state-dir, which it creates if it is missing, and reads in
 * private places to the files and directories that options name, and the files that a kubeconfig
 * names in turn. A path that does not answer within 5 s is skipped; after three of those nothing is
 * limited. Call it before any other thread is started. The version of Landlock, or 0 where nothing
 * is limited, which is logged.
 */
int file_limits_enter(const struct config *config);
