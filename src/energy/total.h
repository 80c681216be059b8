/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which zones are added up to a total, so that no energy is in it twice.
 *
 * Zones form a tree of kinds: platform has psys in it, psys has package, dram and GPUs, package has
 * core and uncore. The total is made of the outermost kinds that the machine has: platform, else
 * psys, else package, dram and GPUs, with core and uncore in place of a package that is not there.
 * Of a kind that several sources count, the first source is in it, what rivals it (energy/rank.h):
 * of rivals only one counts at a time, and what counts other sockets. An estimate is in it only
 * where nothing but GPUs is measured, for it does not contain them.
 *
 * A psys contains the GPUs on NVIDIA's Grace Hopper, and where it is all that a laptop takes. Where
 * it does not, the total lacks them: that is better than to count them twice.
 *
 * Zones that are alike (energy/zone.h) are in it together or not at all, as a row has but their
 * sum. So the tree is one of kinds, and not of each socket's zones: a core is not in it where any
 * socket has a package.
 *
 * A total is a counter of each source that has zones in it: it never falls and has no energy of
 * another. So a zone that is in the total stays there for good: one whose source has been taken
 * over from stands still. A zone that is found later joins where nothing of it is counted yet:
 * another socket does, and a dram beside a package; a psys above a package that counts does not,
 * until the program is started again. Measured zones join beside an estimate, which ends when they
 * begin to count (attribution/accountant.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define TOTAL_NONE 0 /* in no total */

/* Pure: whether all energy of kind @part is also in @whole, in that tree; a kind is in itself. */
bool total_kind_is_in(enum zone_kind part, enum zone_kind whole);
/*
 * Pure: decides of zones [known, count), which were found at once; the first @known were found
 * before and stay in, or out. @total [count] gets the number of the total that each is in: those of
 * one source have one, from 1 on in the order of their first zones. How many there are.
 */
uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      uint32_t total[]);
