/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers in which nothing has run for a while, or never since Kepler started, have no process
 * with a row; whether they have ended is asked of their cgroups.
 */
#pragma once

#include <stdint.h>

#include "attribution/ledger.h"
#include "workload/identity.h"

/*
 * One interval, before it is published: looks at those that were charged or made in it, and each
 * SLEEPERS_LOOK_NS after *looked_ns (0: never), which is then moved, at all. A look is one system
 * call.
 */
#define SLEEPERS_LOOK_NS (30 * 1000000000ULL)
void sleepers_look(struct ledger *ledger, struct identity_resolver *identities, uint64_t now_ns,
		   uint64_t *looked_ns);
