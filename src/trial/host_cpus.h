/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CPUs the machine has, and the places where a load can be pinned to compare them: two
 * threads of one core and a thread of each of two cores; one socket and another.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>

enum cpu_place {
	PLACE_ANYWHERE,
	PLACE_ONE_CORE,      /* two threads of it */
	PLACE_TWO_CORES,     /* one thread of each, both of one socket */
	PLACE_FIRST_SOCKET,  /* all of its CPUs */
	PLACE_SECOND_SOCKET, /* the same */
	PLACES
};

struct host_cpus {
	unsigned count;                 /* that this process may use */
	const char *frequency_obstacle; /* why their frequency cannot be limited; NULL: it can */
	bool (*has_program)(const char *name);
	cpu_set_t places[PLACES]; /* empty: the machine has no such place */
};

/*
 * Reads the topology below @sysfs ("/sys/devices/system/cpu/cpuN/topology") of the CPUs of
 * @allowed. A CPU without a topology is counted and is in no other place.
 */
void host_cpus_read(const char *sysfs, const cpu_set_t *allowed, struct host_cpus *ret);
