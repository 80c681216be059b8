/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimate of a machine without a meter: one zone, platform, whose watts the built-in model
 * (model/platform_power.h) computes from the utilisation of its CPUs.
 *
 * A virtual machine sees only its own CPUs and cannot know the host's idle power. Its estimate is
 * its part of the dynamic power of a typical host with that CPU.
 */
#pragma once

#include <stdbool.h>

#include "estimate/zone_source.h"
#include "host/host.h"
#include "model/platform_power.h"
#include "model/vm_share.h"

/* 0 or -ENOMEM. The other functions take a source that this one made. */
int platform_estimate_new(const struct power_model *model, const struct host_info *host,
			  struct zone_source **ret);
const struct power_model *platform_estimate_model(const struct zone_source *source);
/*
 * Returns true if the CPU's name determines the design power; if not, the facts have a likely one.
 */
bool platform_estimate_knows_design_power(const struct zone_source *source);
/*
 * The facts on which the estimate rests, with guesses filled in: facts about the machine, or about
 * a virtual machine's typical host.
 */
void platform_estimate_facts(const struct zone_source *source, struct machine_facts *ret);
