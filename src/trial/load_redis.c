// SPDX-License-Identifier: Apache-2.0
/*
 * Keys and values have a fixed length, so that the answers to a pipeline have one as well and are
 * read without being parsed.
 */
#include "trial/load_redis.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "trial/load_program.h"
#include "trial/load_worker.h"

#define REPLICAS_MAX 8
#define PERIOD_NS    (2 * NSEC_PER_MSEC)
#define PAIRS        50U /* of SET and GET in each period */
#define RATE         ((double)(2 * PAIRS) * NSEC_PER_SEC / PERIOD_NS)
#define VALUE        64
#define PAIR_MAX     192
#define ANSWERS      (PAIRS * (sizeof("+OK\r\n") - 1 + sizeof("$64\r\n\r\n") - 1 + VALUE))

struct replica {
	struct load_program program;
	char path[96]; /* of its socket */
	int fd;        /* -1: not connected */
};

static size_t make_pipeline(char *buf)
{
	size_t len = 0;

	for (unsigned i = 0; i < PAIRS; i++)
		len += (size_t)snprintf(buf + len, PAIR_MAX,
					"*3\r\n$3\r\nSET\r\n$3\r\n%03u\r\n$%d\r\n%0*u\r\n"
					"*2\r\n$3\r\nGET\r\n$3\r\n%03u\r\n",
					i, VALUE, VALUE, i, i);
	return len;
}

static int start_replica(const char *folder, size_t index, struct replica *ret)
{
	char *const argv[] = { (char[]){ "redis-server" },
			       (char[]){ "--port" },
			       (char[]){ "0" },
			       (char[]){ "--unixsocket" },
			       ret->path,
			       (char[]){ "--save" },
			       (char[]){ "" },
			       (char[]){ "--dir" },
			       (char[]){ "/" },
			       NULL };

	ret->fd = -1;
	(void)snprintf(ret->path, sizeof(ret->path), "%s/%zu", folder, index);
	return load_program_start(argv, &ret->program);
}

/* Until the server listens, or the worker is over. */
static void connect_replica(struct replica *replica)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", replica->path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	while (fd >= 0 && !load_worker_is_over()) {
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
			replica->fd = fd;
			return;
		}
		load_worker_sleep_until(clock_ns(CLOCK_MONOTONIC) + PERIOD_NS);
	}
	if (fd >= 0)
		(void)close(fd);
}

/* Returns false if the connection has failed, or if the worker is over. */
static bool transfer(int fd, char *buf, size_t len, bool is_write)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = is_write ? send(fd, buf + done, len - done, MSG_NOSIGNAL)
				     : recv(fd, buf + done, len - done, 0);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR || load_worker_is_over())
			return false;
	}
	return true;
}

static void ask(const struct load_worker *worker, const struct replica *replicas, size_t count)
{
	static char pipeline[PAIRS * PAIR_MAX], answers[ANSWERS];
	size_t len = make_pipeline(pipeline);
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	while (!load_worker_is_over()) {
		for (size_t i = 0; i < count; i++) {
			if (!transfer(replicas[i].fd, pipeline, len, true) ||
			    !transfer(replicas[i].fd, answers, sizeof(answers), false))
				return;
			atomic_fetch_add_explicit(&worker->work->units, 2 * PAIRS,
						  memory_order_relaxed);
		}
		next += PERIOD_NS;
		load_worker_sleep_until(next);
	}
}

static void run_redis(const struct load_worker *worker)
{
	char folder[] = "/tmp/kepler-validator-redis-XXXXXX", output[16];
	struct replica replicas[REPLICAS_MAX];
	size_t count = 0;

	if (!mkdtemp(folder))
		return;
	while (count < worker->replicas && count < REPLICAS_MAX &&
	       start_replica(folder, count, &replicas[count]) == 0)
		count++;
	for (size_t i = 0; i < count; i++)
		connect_replica(&replicas[i]);
	if (count == worker->replicas)
		ask(worker, replicas, count);
	while (!load_worker_is_over())
		load_worker_sleep_until(UINT64_MAX);
	for (size_t i = 0; i < count; i++) {
		if (replicas[i].fd >= 0)
			(void)close(replicas[i].fd);
		(void)load_program_stop(&replicas[i].program, output, sizeof(output));
		(void)unlink(replicas[i].path);
	}
	(void)rmdir(folder);
}

const struct load_kind load_redis = {
	.name = "redis",
	.unit = "requests",
	.program = "redis-server",
	.without = "redis-server is not installed; Debian has it in the package redis-server.",
	.is_one_worker = true,
	.units_per_s = RATE,
	.run = run_redis,
};
