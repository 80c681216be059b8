/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the host of a virtual machine is full, as far as the time for which vCPUs waited says it.
 * Pure.
 *
 * A vCPU that wants to run waits where the host has no idle CPU, or where a limit (a quota, used-up
 * credits) holds the machine back. In one interval both look the same; over minutes they differ. A
 * full host serves the same part of whatever the machine wants. A limit lets the machine run for
 * the same time whatever it wants, or, where the machine's work comes in bursts, serves a part that
 * changes with it. So of the last minutes, with r the time that it ran and w the time that it
 * wanted to,
 *
 *     full host:  ln (r / w) has the variance e^2, as the demand of neighbours changes a little
 *     a limit:    ln r has that variance where vCPUs waited, or ln (r / w) has B^2
 *
 * Both are equally likely before, and each interval is a draw from a normal distribution of the
 * variance that was found, not below e^2; less of one where it is shorter than 5 s. A machine that
 * always wants the same leaves it open.
 */
#pragma once

#include <stdint.h>

struct vm_full {
	/* Of ln (r / w) in intervals in which the machine ran, and of ln r where vCPUs waited. */
	struct vm_full_moments {
		double count, sum, squares; /* weights fall with age, and of short intervals */
	} served, ran;
};

/* What virtual CPUs did in an interval, of all of them together. */
struct vm_waiting {
	uint64_t dt_ns;
	uint64_t ran_ns, waited_ns;
	unsigned cpus; /* above 0 */
};

/* The probability that the host was full in this interval; 0 where hardly a vCPU waited. */
double vm_full_add(struct vm_full *full, const struct vm_waiting *waiting);
