/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of its host's dynamic power that a virtual machine draws, seen from inside. Pure.
 *
 * The host has T logical CPUs, the machine n of them as vCPUs: its share is s = n/T. The machine is
 * busy for a part u of its vCPUs' time, its neighbours for a part v of all others, and so the host
 * for U = s u + (1 - s) v. A host's dynamic power f(U) is charged in proportion to CPU time, as
 * Kepler on the host does; the machine's part of it is
 *
 *     p = f(U) s u / U = f(k x) / k,    k = U / (s u)
 *
 * where x is what the machine does and k x what the whole host does, if its neighbours do the same
 * kind of work. Where f depends on the sum of the work alone, p is also the Aumann-Shapley value of
 * the machine: its marginal cost, averaged over all orders in which small parts of the work are
 * added. f bends, so that p depends on v, which no guest sees: p is highest on an empty host.
 *
 * Of v the mean over minutes is given or assumed: all from the lowest to the highest that is
 * possible count as equally likely. In a single interval it deviates from that by e v. With some
 * probability (model/vm_full.h) the host is full instead, whatever v then is: U = 1. The median of
 * p over all of these has the least expected error. At each of them the error is normal, with the
 * sum of two variances: the model's, and the variance of (dp/dv) e v. Within the bound is nine
 * tenths of the sum of these distributions.
 */
#pragma once

#include <stddef.h>

/*
 * e: how far the load of neighbours in an interval deviates from their load over minutes, relative
 * to that load.
 */
#define VM_NEIGHBOUR_CHANGE 0.1

/* The half-width of a normal 90 % interval, in standard deviations. */
#define VM_BOUND_DEVIATIONS 1.645

/* Known facts about the host; all zero: none. */
struct vm_hints {
	unsigned host_cpus;         /* logical; 0 unknown */
	double load_low, load_high; /* of the neighbours' CPUs, 0..1; load_high 0: unknown */
};

struct vm_share {
	double share; /* of the host's logical CPUs, above 0, at most 1 */
	double load_low, load_high;
	double full; /* probability that the host is full now */
};

/* An estimate of the machine's power at one load of its neighbours. */
struct vm_point {
	double watts;
	double bound_w; /* of the model, half-width of its 90 % interval; NAN unknown */
};

/* Loads of the host at which an estimate is made: by its neighbours' loads, and the full host. */
#define VM_SHARE_LOADS (21 + 1)

/*
 * @host_cpus: of the model's host, taken where the hints have none; 0: no more than @vcpus. Whether
 * the host is full is not known.
 */
void vm_share_init(struct vm_share *share, unsigned vcpus, unsigned host_cpus,
		   const struct vm_hints *hints);
/*
 * k at load @index of VM_SHARE_LOADS: from the lowest load of neighbours to the highest, and of a
 * full host. @utilisation of the machine's own vCPUs, above 0, at most 1.
 */
double vm_share_ratio(const struct vm_share *share, double utilisation, size_t index);
/* @points cover all loads. The bound is NAN if the bound of a load that counts is NAN. */
void vm_share_combine(const struct vm_share *share,
		      const struct vm_point points[static VM_SHARE_LOADS], struct vm_point *ret);
