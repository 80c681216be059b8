/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which zones are added up to a total, so that no energy is in it twice.
 *
 * Zones form a tree of kinds: platform has psys in it, psys has package and dram, package has core
 * and uncore. GPUs are in the platform, and in a psys only where that is known: a maker feeds the
 * boards past the input that psys measures, or does not.
 *
 * The total is made of the parts: package, dram and GPUs, with core and uncore in place of a
 * package that is not there, and what their whole has in addition (`other`: energy/remainder.h). So
 * a total is never less than a part, whatever the meter or the estimate of the whole says. A psys
 * or platform itself is in the total only where there is no part of it. Of a kind that several
 * sources count, the first source is in it, what rivals it (energy/rank.h): of rivals only one
 * counts at a time, and what counts other sockets.
 *
 * An estimate is in it only where nothing but GPUs is measured, for it does not contain them.
 *
 * Zones that are alike (energy/zone.h) are in it together or not at all, because a row has only
 * their sum. So the tree is one of kinds, and not of each socket's zones: a core is not in it if
 * any socket has a package.
 *
 * Each source with zones in the total has a counter of its own, which never falls and contains no
 * energy of another source. So a zone that is in the total stays there for good; after a takeover
 * by another source it stands still. A zone that is found later joins if none of its energy is
 * counted yet: another socket does, and a dram in addition to a package. A package inside a
 * platform that counts does not, until the program is started again. Measured zones join in
 * addition to an estimate, which ends when they begin to count (attribution/accountant.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define TOTAL_NONE 0 /* in no total */

/* Whether a psys has the energy of GPUs in it: as its zone says (has_gpus), or as a person does. */
enum psys_gpus { PSYS_GPUS_AUTO, PSYS_GPUS_INSIDE, PSYS_GPUS_BESIDE };

/* Pure: whether all energy of kind @part is also in @whole, in that tree; a kind is in itself. */
bool total_kind_is_in(enum zone_kind part, enum zone_kind whole);
/* Pure: likewise of two zones, of which a psys may have no GPUs in it. */
bool total_zone_is_in(const struct zone *part, const struct zone *whole, enum psys_gpus psys_gpus);
/*
 * Pure: decides of zones [known, count), which were found at once; the first @known were found
 * before and stay in, or out. @total [count] gets the number of the total that each is in: those of
 * one source have one, from 1 on in the order of their first zones. How many there are.
 */
uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      enum psys_gpus psys_gpus, uint32_t total[]);
