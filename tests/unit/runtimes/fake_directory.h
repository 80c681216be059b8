/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for src/workload/name_directory.c and src/net/http_client.c: keeps what it was given,
 * so that a test sees every call, and answers requests with bytes of the test's choice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FAKE_MAX 64

struct fake_container {
	char id[128], name[256], pod[256], space[256], uid[256];
	unsigned cpu_request_milli, cpu_limit_milli;
};

struct fake_directory {
	struct fake_container containers[FAKE_MAX];
	size_t count;
	unsigned puts, removes;
	unsigned room; /* containers that fit */
	bool reachable;
	int wanted_fd;
};

/* The response to the next requests: @error, or status and body. */
struct fake_answer {
	int error, status;
	const char *body;
	unsigned requests, clients;
	char socket[128];
};

extern struct fake_directory fake_directory;
extern struct fake_answer fake_answer;

void fake_reset(void);
/* NULL when it is not there. */
const struct fake_container *fake_find(const char *id);
