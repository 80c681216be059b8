/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of a zone's power that is idle power at a given load, before anything is known of the
 * machine. The values come from the built-in models of a typical machine (model/platform_power.h,
 * model/component_power.h); this file's test compares them. Pure.
 *
 * They are used only to bound idle power from a measured power (idle_learner_bound()), and depend
 * on the kind of the zone alone, so that a recording needs nothing more to be replayed.
 */
#pragma once

#include "attribution/learning/idle.h"
#include "energy/zone.h"

/* [IDLE_SHARE_LEVELS]: 1 at utilisation 0, never rising. */
const double *idle_prior_share(enum zone_kind kind);
