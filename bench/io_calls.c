// SPDX-License-Identifier: Apache-2.0
/*
 * io_calls MODE SECONDS - input and output that the page cache and loopback answer, on one CPU:
 * prints nanoseconds for each. MODE is datagram (one sent and received), stream (the same by TCP,
 * so with an acknowledgement), read (a page of a file) or byte (a byte of one).
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int out = -1, in = -1;
static char bytes[4096];

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static int connect_to_self(int type)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	in = socket(AF_INET, type, 0);
	out = socket(AF_INET, type, 0);
	if (bind(in, (struct sockaddr *)&address, len) < 0 ||
	    getsockname(in, (struct sockaddr *)&address, &len) < 0 ||
	    (type == SOCK_STREAM && listen(in, 1) < 0) ||
	    connect(out, (struct sockaddr *)&address, len) < 0)
		return -1;
	if (type == SOCK_STREAM)
		in = accept(in, NULL, NULL);
	return in;
}

static int open_cached(void)
{
	FILE *file = tmpfile();

	if (!file || fwrite(bytes, sizeof(bytes), 1, file) != 1 || fflush(file) != 0)
		return -1;
	return in = dup(fileno(file));
}

static int once(const char *mode)
{
	if (out < 0)
		return pread(in, bytes, mode[0] == 'b' ? 1 : sizeof(bytes), 0) > 0;
	return send(out, bytes, 64, 0) == 64 && recv(in, bytes, 64, 0) == 64;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "datagram";
	uint64_t limit_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 1000000000ULL;
	uint64_t rounds = 0, began, took;
	cpu_set_t cpus;
	int r;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	if (mode[0] == 'd' || mode[0] == 's')
		r = connect_to_self(mode[0] == 'd' ? SOCK_DGRAM : SOCK_STREAM);
	else
		r = open_cached();
	if (r < 0) {
		perror("io_calls");
		return 1;
	}
	began = now_ns();
	do {
		for (int i = 0; i < 1000; i++, rounds++) {
			if (!once(mode))
				return 1;
		}
		took = now_ns() - began;
	} while (took < limit_ns);
	(void)printf("%.1f\n", (double)took / (double)rounds);
	return 0;
}
