/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual machine of a plan that needs one. It starts after the first page of each exporter was
 * read, so that all of its CPU time and energy is seen, and the phases begin when it rests and the
 * exporters show it.
 */
#pragma once

#include <signal.h>

#include "kepler-validator/checks/observation.h"

/* Does a phase of the plan need one? */
bool own_guest_is_wanted(const struct observation *observation);
/*
 * Starts it and waits; @look reads everything once. Returns early if @stop is set. 0, or -errno
 * with a diagnosis.
 */
int own_guest_start(struct observation *observation, int (*look)(struct observation *),
		    const volatile sig_atomic_t *stop, struct diag *diag);
/* "run/vm", inconclusive, if it has ended during the run. 0, -ENOMEM or -ENOSPC. */
int own_guest_check(const struct observation *observation, struct result_list *ret);
