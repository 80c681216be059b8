// SPDX-License-Identifier: Apache-2.0
#include "trial/scenario.h"

#include <stddef.h>
#include <string.h>

#include "trial/guest_machine.h"
#include "trial/load_arithmetic.h"
#include "trial/load_command.h"
#include "trial/load_inference.h"
#include "trial/load_memory.h"
#include "trial/load_processes.h"
#include "trial/load_redis.h"
#include "trial/load_stress_ng.h"

/* clang-format off: one row of the table, one line for each load */
const struct scenario scenarios[] = {
	{ "quick",
	  "Half of the CPUs, then short-lived processes.",
	  { { "half", &load_steady, 0.5 }, { "short-lived", &load_short_lived, 1 } },
	  {} },
	{ "full",
	  "The ladder upwards, then the loads of most other scenarios.",
	  { { "25 %", &load_steady, 0.25 },
	    { "50 %", &load_steady, 0.5, .follows = true },
	    { "75 %", &load_steady, 0.75, .follows = true },
	    { "100 %", &load_steady, 1, .follows = true } },
	  { "alone-shared", "short-lived", "churn", "memory-bound", "noisy-neighbour", "smt",
	    "sockets", "inference" } },
	{ "node", "No load.", { { "node", NULL, 0 } }, {} },
	{ "idle", "No load; the machine should be idle.", { { "idle", NULL, 0 } }, {} },
	{ "ladder",
	  "25, 50, 75 and 100 % of the CPUs, and down again.",
	  { { "25 %", &load_steady, 0.25 },
	    { "50 %", &load_steady, 0.5, .follows = true },
	    { "75 %", &load_steady, 0.75, .follows = true },
	    { "100 %", &load_steady, 1, .follows = true },
	    { "75 % again", &load_steady, 0.75, .follows = true },
	    { "50 % again", &load_steady, 0.5, .follows = true },
	    { "25 % again", &load_steady, 0.25, .follows = true } },
	  {} },
	{ "short-lived",
	  "3,000 processes of 10 ms of CPU time, spread over the phase.",
	  { { "short-lived", &load_short_lived, 1 } },
	  {} },
	{ "churn",
	  "Processes of 1 s on half of the CPUs, one after another.",
	  { { "churn", &load_churn, 0.5 } },
	  {} },
	{ "alone-shared",
	  "Half of the CPUs alone, then next to a neighbour of the same size.",
	  { { "alone", &load_steady, 0.5 }, { "shared", &load_steady, 0.5, &load_steady } },
	  {} },
	{ "memory-bound",
	  "Arithmetic and a pointer chase through memory, with the same CPU time: "
	  "each alone, then both at once.",
	  { { "arithmetic", &load_steady, 0.5 },
	    { "memory", &load_memory, 0.5 },
	    { "arithmetic next to memory", &load_steady, 0.5, &load_memory },
	    { "memory next to arithmetic", &load_memory, 0.5, &load_steady } },
	  {} },
	{ "noisy-neighbour",
	  "A steady load next to one that runs for 2 s of each 4 s.",
	  { { "steady", &load_steady, 0.5, &load_alternating } },
	  {} },
	{ "smt",
	  "Two CPUs of one core, then one of each of two cores.",
	  { { "one core", &load_steady, 1, .place = PLACE_ONE_CORE },
	    { "two cores", &load_steady, 1, .place = PLACE_TWO_CORES } },
	  {} },
	{ "sockets",
	  "All CPUs of one socket, then all of another.",
	  { { "first socket", &load_steady, 1, .place = PLACE_FIRST_SOCKET },
	    { "second socket", &load_steady, 1, .place = PLACE_SECOND_SOCKET } },
	  {} },
	{ "frequency",
	  "All CPUs, limited to 40, 70 and 100 % of their highest frequency.",
	  { { "40 % of the frequency", &load_steady, 1, .max_frequency = 0.4 },
	    { "70 % of the frequency", &load_steady, 1, .max_frequency = 0.7 },
	    { "highest frequency", &load_steady, 1, .max_frequency = 1 } },
	  {} },
	{ "stress-ng",
	  "Four stressors of stress-ng, each on half and on all of the CPUs.",
	  { { "cpu 50 %", &load_stress_cpu, 0.5 },
	    { "cpu 100 %", &load_stress_cpu, 1 },
	    { "matrix 50 %", &load_stress_matrix, 0.5 },
	    { "matrix 100 %", &load_stress_matrix, 1 },
	    { "stream 50 %", &load_stress_stream, 0.5 },
	    { "stream 100 %", &load_stress_stream, 1 },
	    { "cache 50 %", &load_stress_cache, 0.5 },
	    { "cache 100 %", &load_stress_cache, 1 } },
	  {} },
	{ "redis",
	  "One, two and three replicas of redis-server, each with the same number of "
	  "requests, and down again.",
	  { { "1 replica", &load_redis, .replicas = 1 },
	    { "2 replicas", &load_redis, .replicas = 2, .follows = true },
	    { "3 replicas", &load_redis, .replicas = 3, .follows = true },
	    { "2 replicas again", &load_redis, .replicas = 2, .follows = true },
	    { "1 replica again", &load_redis, .replicas = 1, .follows = true } },
	  {} },
	{ "inference",
	  "A pipeline of three processes on half of the CPUs: decode, infer, classify.",
	  { { "inference", &load_inference, 0.5 } },
	  {} },
	{ "vm",
	  "A virtual machine that is started for it: all of its CPUs.",
	  { { "guest", &load_guest, 1 } },
	  {} },
	{ "command", "The command of --load-command.", { { "command", &load_command, 1 } }, {} },
	{ "gpu", "The command of --gpu-load.", { { "gpu", &load_gpu_command, 1 } }, {} },
	{ .name = NULL },
};
/* clang-format on */

const struct scenario *scenario_find(const char *name)
{
	for (const struct scenario *scenario = scenarios; scenario->name; scenario++)
		if (strcmp(scenario->name, name) == 0)
			return scenario;
	return NULL;
}
