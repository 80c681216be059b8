/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the energy of a machine without a meter: one zone, platform. It is fed rather than
 * read: each interval gives the machine's busy CPU time, and the model's watts are integrated over
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/span.h"
#include "energy/zone.h"
#include "estimate/model_meter.h"
#include "host/host.h"
#include "model/platform_power.h"
#include "model/vm_share.h"

struct estimated_meter;

/* 0 or -ENOMEM. */
int estimated_meter_new(const struct power_model *model, const struct host_info *host,
			struct estimated_meter **ret);
void estimated_meter_free(struct estimated_meter *meter);
const struct zone *estimated_meter_zone(const struct estimated_meter *meter);
/*
 * Advances to @now_ns (MONOTONIC) with the busy CPU time of all tasks since the last call, and the
 * time for which virtual CPUs waited in it. Whether there is a span since then: false while the
 * clock stands still. The first is not known.
 */
bool estimated_meter_advance(struct estimated_meter *meter, uint64_t now_ns, uint64_t busy_ns,
			     uint64_t waited_ns, struct energy_span *ret);
/* CPUs came or went: busy time is spread over @cpus from here on, and a VM is as large as them. */
void estimated_meter_set_cpus(struct estimated_meter *meter, unsigned cpus);
unsigned estimated_meter_cpus(const struct estimated_meter *meter);
const struct power_model *estimated_meter_model(const struct estimated_meter *meter);
/* Whether the design power follows from the CPU's name; else the facts have a likely one. */
bool estimated_meter_knows_design_power(const struct estimated_meter *meter);
/*
 * What is known of the estimate. The bound is the half-width of the 90 % interval of the last
 * interval's power, of a VM of its dynamic power, with what its neighbours bring; NAN before.
 */
void estimated_meter_state(const struct estimated_meter *meter, struct model_state *ret);
/*
 * The facts on which the estimate rests, with guesses filled in: those of the machine, or of a VM's
 * typical host, with the VM's share of it.
 */
void estimated_meter_facts(const struct estimated_meter *meter, struct machine_facts *ret_facts,
			   struct vm_share *ret_share);
