/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which share of a zone's power is idle power at a given load, before anything is known of the
 * machine? As the built-in models have it of a typical machine (model/platform_power.h,
 * model/component_power.h), to which the test of this file compares it. Pure.
 *
 * It is used only to bound idle power from a power that was measured (idle_learner_bound()), and
 * depends on the kind of the zone alone, so that a recording needs nothing more to be booked again.
 */
#pragma once

#include "attribution/learning/idle.h"
#include "energy/zone.h"

/* [IDLE_SHARE_LEVELS]: 1 at utilisation 0, never rising. */
const double *idle_prior_share(enum zone_kind kind);
