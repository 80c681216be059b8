/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon that needs no privilege gives up all that it was started with, before it reads anything
 * that others have written. A service manager does that better (a user of its own, its file
 * systems); this is for a start by hand, from a script, or in a container as root.
 */
#pragma once

#include "base/diag.h"

/*
 * Becomes @user with its groups, if a name is given, and gives up all capabilities as
 * privileges_drop() does; "" keeps the user, also if that is root, which then can reach only what
 * is its own or everybody's. For good, and before other threads are started. 0; -ENOENT: there is
 * no such user; -EPERM: only root can become another user; -errno with a diagnosis.
 */
int run_as(const char *user, struct diag *diag);
