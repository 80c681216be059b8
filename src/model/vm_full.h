/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How likely the host of a virtual machine is full, judged by the time for which vCPUs waited.
 * Pure.
 *
 * A vCPU with work waits if the host has no idle CPU, or if a limit (a quota, used-up credits)
 * holds the machine back. In one interval both look the same; over minutes they differ. A full host
 * serves the same part of all demands: of neighbours, whose demand stays the same from one interval
 * to the next, and of the machine. A limit lets the machine run for the same time whatever its
 * demand is, or, if the machine's work comes in bursts, serves a part that changes with it. So in
 * the last minutes, with r the time that it ran and w the time that it had work, both as parts of
 * its CPUs' time, s its share of the host's CPUs and N the demand of its neighbours,
 *
 *     full host:       ln (w / r) is normal about ln max (1, s w + N), with the deviation e
 *     a limit:         if vCPUs waited, ln r is normal about its mean, with the deviation e
 *     it is reached in bursts:   there, ln (w / r) is exponential, as far apart as it is large
 *
 * N is the mean over the intervals before, and e is VM_NEIGHBOUR_CHANGE. The better one of both
 * limits and the full host are equally likely before, and each interval is a draw; less of one if
 * it is shorter than 5 s. A machine with a constant demand leaves the question open.
 */
#pragma once

#include <stdint.h>

struct vm_full {
	/* Sums over intervals in which vCPUs waited; weights fall with age, and of short ones. */
	double count, demand, delay; /* weights; of N, and of ln (w / r) */
	double ran, ran_squares;     /* of ln r */
	/* Over all intervals: squares of the distance of ln (w / r) from a full host's. */
	double off_squares;
};

/* The time of all virtual CPUs together in an interval. */
struct vm_waiting {
	uint64_t dt_ns;
	uint64_t ran_ns, waited_ns;
	unsigned cpus; /* above 0 */
	double share;  /* of the host's CPUs, above 0, at most 1 */
};

/* The probability that the host was full in this interval; 0 where hardly a vCPU waited. */
double vm_full_add(struct vm_full *full, const struct vm_waiting *waiting);
