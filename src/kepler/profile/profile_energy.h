/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of processes in an interval that has just been booked, counted by the zones that make
 * up the node's total (energy/total.h), except devices, because a stack on a CPU says nothing about
 * a GPU. Either measured or estimated energy: estimates count only if nothing is measured. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/books.h"
#include "profile/sample_share.h"

/* Selects the processes of a container or pod, by name or id, or all. Borrowed; NULL: any. */
struct energy_filter {
	const char *container, *pod;
};

/* So far, in µJ. */
struct profile_energy {
	struct energy_filter filter;
	bool with_idle;            /* idle energy counts, too, as far as processes are charged */
	uint32_t clocks;           /* that samples are taken by: profile/sample_clock.h */
	bool is_known;             /* a zone counts */
	enum zone_quality quality; /* of all that counts, from the first zone on */
	bool has_matched;          /* a process of the filter has been seen */
	uint64_t node_uj;          /* of the modes that count */
	uint64_t idle_uj;          /* of the node, whether it counts or not */
	uint64_t processes_uj;     /* charged to processes, of the filter or not */
};

typedef void profile_energy_fn(void *userdata, uint32_t pid, const char *comm,
			       const struct share_amounts *amounts);

/* Calls @fn for each process of the filter with energy or CPU time; one may come several times. */
void profile_energy_take(struct profile_energy *energy, const struct books *books,
			 profile_energy_fn *fn, void *userdata);
