/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the host of a virtual machine is full, as far as the time for which vCPUs waited says it.
 * Pure.
 *
 * A vCPU that wants to run waits where the host has no idle CPU, or where a limit (a quota, used-up
 * credits) holds the machine back. In one interval both look the same; over minutes they differ. A
 * full host serves the same part of whatever is asked of it: by neighbours, which ask for the same
 * from one interval to the next, and by the machine. A limit lets the machine run for the same time
 * whatever it wants, or, where the machine's work comes in bursts, serves a part that changes with
 * it. So of the last minutes, with r the time that it ran and w the time that it wanted to, both
 * parts of its CPUs' time, s its share of the host's CPUs and N the demand of its neighbours,
 *
 *     full host:       ln (w / r) is normal about ln max (1, s w + N), with the deviation e
 *     a limit:         where vCPUs waited, ln r is normal about its mean, with the deviation e
 *     it is reached in bursts:   there, ln (w / r) is exponential, as far apart as it is large
 *
 * N is the mean of what the intervals before have shown, and e is that of VM_NEIGHBOUR_CHANGE. The
 * better one of both limits and the full host are equally likely before, and each interval is a
 * draw; less of one where it is shorter than 5 s. A machine that always wants the same leaves it
 * open.
 */
#pragma once

#include <stdint.h>

struct vm_full {
	/* Sums over intervals in which vCPUs waited; weights fall with age, and of short ones. */
	double count, demand, delay; /* weights; of N, and of ln (w / r) */
	double ran, ran_squares;     /* of ln r */
	/* Over all intervals: squares of how far ln (w / r) was from that of a full host. */
	double off_squares;
};

/* What virtual CPUs did in an interval, of all of them together. */
struct vm_waiting {
	uint64_t dt_ns;
	uint64_t ran_ns, waited_ns;
	unsigned cpus; /* above 0 */
	double share;  /* of the host's CPUs, above 0, at most 1 */
};

/* The probability that the host was full in this interval; 0 where hardly a vCPU waited. */
double vm_full_add(struct vm_full *full, const struct vm_waiting *waiting);
