/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy of all cores of a package as one sum, where each core has a register of its own of 32 bits
 * (AMD PPR, Core::X86::Msr::CORE_ENERGY_STAT): every register that starts again is corrected by
 * itself. Pure, but for reading.
 *
 * A sum is of one set of cores: another set is another counter. So a core that goes offline, or
 * comes back, makes an interval that is not counted, and no register that was off is believed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "meter/shared_fds.h"

/* Zeroed: nothing was read yet. Of one reader at a time. */
struct rapl_core_sum {
	uint32_t generation; /* of the cores that were read last */
	uint64_t counts;     /* that they have counted while they were read */
	size_t size;         /* cores for which there is room */
	uint32_t *values;    /* [2 * size]: by core what was read last, and what is read now */
};

/* 0, or -errno; -ENODEV where the CPU is offline. */
int rapl_register_read(int fd, uint32_t msr, uint64_t *ret);
/*
 * Reads @msr of all @cores, and adds what they have counted since the last reading of the same
 * ones. 0, or -errno, and then nothing has changed.
 */
int rapl_core_sum_read(struct rapl_core_sum *sum, const struct shared_fds *cores, uint32_t msr);
void rapl_core_sum_release(struct rapl_core_sum *sum);
