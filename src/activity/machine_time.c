// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel renders all of /proc/stat for a read of any length, interrupts included: 10 us with 2
 * CPUs. Reading the beginning alone saves the copy of the rest, and the file stays open.
 */
#include "activity/machine_time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define FIRST_SIZE 4096U
#define MAX_SIZE   (4U << 20) /* 16,384 CPUs with the longest numbers that there are */

enum field { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

struct machine_clock {
	int fd;
	char *text;
	size_t size;
	uint64_t tick_ns;
};

static int parse_fields(const char *text, const char *end, uint64_t *fields)
{
	for (int i = 0; i < FIELDS; i++) {
		const char *digits;
		int r;

		while (text < end && *text == ' ')
			text++;
		digits = text;
		while (text < end && *text != ' ')
			text++;
		r = parse_u64(digits, (size_t)(text - digits), &fields[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Lines of CPUs from @text on. -EMSGSIZE when nothing follows them. */
static int count_cpus(const char *text, const char *end, uint32_t *ret)
{
	uint32_t count = 0;

	while (end - text > 3 && memcmp(text, "cpu", 3) == 0) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		if (!newline)
			return -EMSGSIZE;
		text = newline + 1;
		count++;
	}
	if (end - text <= 3)
		return -EMSGSIZE;
	*ret = count;
	return 0;
}

int machine_time_parse(const char *text, size_t len, uint64_t tick_ns, struct machine_time *ret)
{
	const char *newline = memchr(text, '\n', len);
	uint64_t fields[FIELDS];
	uint32_t cpus;
	int r;

	if (!newline || newline - text < 5 || memcmp(text, "cpu  ", 5) != 0 ||
	    parse_fields(text + 5, newline, fields) < 0)
		return -EINVAL;
	r = count_cpus(newline + 1, text + len, &cpus);
	if (r < 0)
		return r;
	if (!cpus)
		return -EINVAL;
	ret->busy_ns =
		(fields[USER] + fields[NICE] + fields[SYSTEM] + fields[IRQ] + fields[SOFTIRQ]) *
		tick_ns;
	ret->idle_ns = (fields[IDLE] + fields[IOWAIT]) * tick_ns;
	ret->steal_ns = fields[STEAL] * tick_ns;
	ret->cpus = cpus;
	return 0;
}

static int grow(struct machine_clock *clock)
{
	size_t size = clock->size ? clock->size * 2 : FIRST_SIZE;
	char *bigger = size <= MAX_SIZE ? realloc(clock->text, size) : NULL;

	if (!bigger)
		return -ENOMEM;
	clock->text = bigger;
	clock->size = size;
	return 0;
}

int machine_clock_open(const char *procfs, struct machine_clock **ret)
{
	CLEANUP_FREE struct machine_clock *clock = calloc(1, sizeof(*clock));
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	char path[4096];
	int r;

	if (!clock)
		return -ENOMEM;
	r = path_join(path, sizeof(path), procfs, "stat");
	if (r == 0)
		r = grow(clock);
	if (r < 0)
		return r;
	clock->tick_ns = NSEC_PER_SEC / (ticks_per_s > 0 ? (uint64_t)ticks_per_s : 100);
	clock->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (clock->fd < 0) {
		r = -errno;
		free(clock->text);
		return r;
	}
	*ret = TAKE_PTR(clock);
	return 0;
}

void machine_clock_close(struct machine_clock *clock)
{
	if (!clock)
		return;
	(void)close(clock->fd);
	free(clock->text);
	free(clock);
}

int machine_clock_read(struct machine_clock *clock, struct machine_time *ret)
{
	struct machine_time now;
	int r;

	do {
		ssize_t n;

		now.time_ns = clock_ns(CLOCK_MONOTONIC);
		now.boottime_ns = clock_ns(CLOCK_BOOTTIME);
		n = pread(clock->fd, clock->text, clock->size, 0);
		if (n < 0)
			return -errno;
		r = machine_time_parse(clock->text, (size_t)n, clock->tick_ns, &now);
		if (r == -EMSGSIZE && (size_t)n < clock->size)
			return -EINVAL; /* that was all of it */
		if (r == -EMSGSIZE && grow(clock) < 0)
			return -ENOMEM;
	} while (r == -EMSGSIZE);
	if (r == 0)
		*ret = now;
	return r;
}
