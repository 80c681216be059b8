/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which zones are added up to a total, so that no energy is in it twice.
 *
 * Zones form a tree of kinds: platform contains psys, psys contains package and dram, package
 * contains core and uncore. GPUs are in the platform, and in a psys only where that is known: some
 * boards feed GPUs past the input that psys measures.
 *
 * The total is made of the parts: package, dram and GPUs, with core and uncore in place of a
 * package that is missing, and the energy that their whole has in addition (`other`:
 * energy/remainder.h). So a total is never less than a part, whatever the meter or the estimate of
 * the whole reads. A psys or platform itself is in the total only if none of its parts is. If
 * several sources count a kind, the total contains the first source, its rivals (energy/rank.h),
 * since only one of several rivals counts at a time, and sources that count other sockets.
 *
 * An estimate is in the total only if nothing but GPUs is measured, because it does not contain
 * them, or if the meters are shares in whose place it counts while they are silent.
 *
 * Zones that are alike (energy/zone.h) are in it together or not at all, because a row has only
 * their sum. So this is a tree of kinds, and not of each socket's zones: a core is not in the total
 * if any socket has a package.
 *
 * Each source with zones in the total has a counter of its own, which never falls and contains no
 * energy of another source. So a zone that is in the total stays there for good; after a takeover
 * by another source it stands still. A zone that is found later joins if none of its energy is
 * counted yet: another socket does, and a dram in addition to a package. A package inside a
 * platform that counts does not join until the program is restarted. Measured zones join in
 * addition to an estimate, which ends when they begin to count (attribution/accountant.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define TOTAL_NONE 0 /* in no total */

/*
 * Does a psys contain the energy of GPUs? AUTO: as its zone reports (has_gpus); the others are
 * settings.
 */
enum psys_gpus { PSYS_GPUS_AUTO, PSYS_GPUS_INSIDE, PSYS_GPUS_BESIDE };

/* Pure: is all energy of kind @part also in @whole, in that tree? A kind is in itself. */
bool total_kind_is_in(enum zone_kind part, enum zone_kind whole);
/* Pure: the same for two zones; a psys may have no GPUs in it. */
bool total_zone_is_in(const struct zone *part, const struct zone *whole, enum psys_gpus psys_gpus);
/*
 * Pure: decides for zones [known, count), which were found at once; the first @known were found
 * before and stay in or out. @total [count] receives the number of the total that each is in: the
 * zones of one source have one number, from 1 on in the order of their first zones. Returns the
 * number of totals.
 */
uint32_t total_choose(const struct zone *const zones[], size_t known, size_t count,
		      enum psys_gpus psys_gpus, uint32_t total[]);
