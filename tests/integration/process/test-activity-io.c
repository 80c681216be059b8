// SPDX-License-Identifier: Apache-2.0
/*
 * Softirqs, bytes and pages arrive at the cgroup that has caused them, whatever else runs. Truth is
 * what the children send, receive, read and write.
 */
#include "tests/rig/activity_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "workload/cgroup/hierarchy.h"

#define TCP_BYTES   (32U * 1024 * 1024)
#define DATAGRAMS   2000U
#define DATAGRAM    1000U
#define BLOCK_BYTES (4U * 1024 * 1024)
#define BLOCK_ONCE  (256U * 1024)
#define PAGE        4096U
#define PASSES      70 /* more than a cgroup without work stays in the kernel's table */

enum group { SENDER, RECEIVER, BYSTANDER, GROUPS };

static struct hierarchy hierarchy;
static char paths[GROUPS][512];
static uint64_t ids[GROUPS];
static uint64_t sums[GROUPS][SIGNAL_COUNT];
static uint64_t all[SIGNAL_COUNT];
static struct activity_reader *reader;

static struct activity_options options_of(enum io_wanted io, const char *spoil)
{
	return (struct activity_options){ .allow_bpf = true,
					  .allow_walk = true,
					  .cgroup_controller = hierarchy.controller,
					  .io = io,
					  .spoil_program = spoil };
}

static struct io_info io_info(void)
{
	struct activity_info info;

	activity_get_info(reader, &info);
	return info.io;
}

static void pass(void)
{
	struct activity activity;

	assert_int_equal(activity_read(reader, &activity), 0);
	assert_int_equal(activity.signals, io_info().signals);
	for (size_t i = 0; i < activity.cgroup_signal_count; i++) {
		const struct cgroup_signals *its = &activity.cgroup_signals[i];

		for (int signal = 0; signal < SIGNAL_COUNT; signal++) {
			all[signal] += its->amount[signal];
			for (int group = 0; group < GROUPS; group++)
				sums[group][signal] +=
					its->cgroup_id == ids[group] ? its->amount[signal] : 0;
		}
	}
}

static void begin(enum io_wanted io, const char *spoil)
{
	const struct activity_options options = options_of(io, spoil);

	reader = rig_open(&options);
	pass();
	memset(sums, 0, sizeof(sums));
	memset(all, 0, sizeof(all));
}

static void end(void)
{
	activity_close(reader);
	reader = NULL;
}

static bool knows(enum signal signal)
{
	if (io_info().signals & SIGNAL_BIT(signal))
		return true;
	print_message("# not known on this kernel: %s (%s)\n", signal_name(signal),
		      io_info().missing_text);
	return false;
}

static void enter(enum group group)
{
	char path[600];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", paths[group]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(1);
	(void)close(fd);
}

static void must(bool right)
{
	if (!right)
		_exit(1);
}

static void burn_beside(void *arg)
{
	(void)arg;
	enter(BYSTANDER);
	for (;;)
		rig_burn_ms(5);
}

static struct {
	int type;
	int pipe[2]; /* by which the receiver shows its address */
	struct sockaddr_in address;
} connection;

/* A socket belongs to the cgroup in which it is made, as those of containers do. */
static int listen_on_loopback(int type)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), size = 8 << 20;

	must(fd >= 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	must(bind(fd, (struct sockaddr *)&address, len) == 0);
	must(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	must(type != SOCK_STREAM || listen(fd, 1) == 0);
	must(write(connection.pipe[1], &address, sizeof(address)) == sizeof(address));
	return fd;
}

static void send_all(void *arg)
{
	static char bytes[16384];
	int fd;

	(void)arg;
	enter(SENDER);
	fd = socket(AF_INET, connection.type, 0);
	must(connect(fd, (struct sockaddr *)&connection.address, sizeof(connection.address)) == 0);
	if (connection.type == SOCK_DGRAM) {
		for (unsigned int i = 0; i < DATAGRAMS; i++) {
			must(send(fd, bytes, DATAGRAM, 0) == DATAGRAM);
			if (i == 0)
				rig_sleep_ms(50); /* with v1 the first receipt shows the owner */
		}
		return;
	}
	for (size_t sent = 0; sent < TCP_BYTES;) {
		size_t left = TCP_BYTES - sent;
		ssize_t n = send(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes), 0);

		must(n > 0);
		sent += (size_t)n;
	}
}

static void receive_all(void *arg)
{
	static char bytes[65536];
	int fd;

	(void)arg;
	enter(RECEIVER);
	fd = listen_on_loopback(connection.type);
	if (connection.type == SOCK_DGRAM) {
		for (unsigned int i = 0; i < DATAGRAMS; i++)
			must(recv(fd, bytes, sizeof(bytes), 0) == DATAGRAM);
		return;
	}
	fd = accept(fd, NULL, NULL);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

/* Together with processes that only run, one on each CPU and more. */
static void transfer(int type)
{
	pid_t beside[3], sender, receiver;

	connection.type = type;
	assert_int_equal(pipe(connection.pipe), 0);
	for (size_t i = 0; i < 3; i++)
		beside[i] = rig_fork("beside", burn_beside, NULL);
	receiver = rig_fork("receiver", receive_all, NULL);
	assert_int_equal(read(connection.pipe[0], &connection.address, sizeof(connection.address)),
			 sizeof(connection.address));
	sender = rig_fork("sender", send_all, NULL);
	wait_for(sender);
	wait_for(receiver);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(kill(beside[i], SIGKILL), 0);
		wait_for(beside[i]);
	}
	(void)close(connection.pipe[0]);
	(void)close(connection.pipe[1]);
}

static void print_sums(const char *what)
{
	static const char *const names[GROUPS] = { "sender", "receiver", "bystander" };

	for (int group = 0; group < GROUPS; group++)
		printf("# %s, %s: %llu B, %llu tx %llu rx %llu block softirqs of %.3f ms, "
		       "%llu B block, %llu pages\n",
		       what, names[group], (unsigned long long)sums[group][SIGNAL_NET_BYTES],
		       (unsigned long long)sums[group][SIGNAL_NET_TX_IRQ],
		       (unsigned long long)sums[group][SIGNAL_NET_RX_IRQ],
		       (unsigned long long)sums[group][SIGNAL_BLOCK_IRQ],
		       (double)sums[group][SIGNAL_SOFTIRQ_TIME] / 1e6,
		       (unsigned long long)sums[group][SIGNAL_BLOCK_BYTES],
		       (unsigned long long)sums[group][SIGNAL_PAGE_CACHE_HITS]);
}

static void check_network(uint64_t bytes)
{
	if (knows(SIGNAL_NET_BYTES)) {
		assert_int_equal(sums[SENDER][SIGNAL_NET_BYTES], bytes);
		assert_int_equal(sums[RECEIVER][SIGNAL_NET_BYTES], bytes);
	}
	assert_true(sums[RECEIVER][SIGNAL_NET_RX_IRQ] > 0);
	assert_true(sums[RECEIVER][SIGNAL_SOFTIRQ_TIME] > 0);
	for (int signal = 0; signal < SIGNAL_COUNT; signal++)
		assert_int_equal(sums[BYSTANDER][signal], 0);
}

static void test_a_stream(void **state)
{
	(void)state;
	begin(IO_WANTED_ON, NULL);
	transfer(SOCK_STREAM);
	pass();
	print_sums("stream");
	check_network(TCP_BYTES);
	assert_true(sums[SENDER][SIGNAL_NET_RX_IRQ] > 0); /* acknowledgements are its, too */
	end();
}

static void test_datagrams(void **state)
{
	(void)state;
	begin(IO_WANTED_ON, NULL);
	transfer(SOCK_DGRAM);
	pass();
	print_sums("datagrams");
	if (knows(SIGNAL_NET_BYTES)) /* by the same kernels that say when data is ready */
		check_network(DATAGRAMS * DATAGRAM);
	end();
}

/* A cgroup whose row has been removed from the kernel's table counts as before. */
static void test_after_a_long_rest(void **state)
{
	(void)state;
	begin(IO_WANTED_ON, NULL);
	for (int i = 0; i < 2; i++) {
		memset(sums, 0, sizeof(sums));
		transfer(SOCK_STREAM);
		for (int j = 0; j < PASSES; j++)
			pass();
		check_network(TCP_BYTES);
	}
	end();
}

static char file[64];

static void write_directly(void *arg)
{
	int fd = open(file, O_WRONLY | O_DIRECT | O_CLOEXEC);
	void *bytes = NULL;

	(void)arg;
	enter(SENDER);
	must(fd >= 0 && posix_memalign(&bytes, PAGE, BLOCK_ONCE) == 0);
	memset(bytes, 'x', BLOCK_ONCE);
	for (unsigned int i = 0; i < BLOCK_BYTES / BLOCK_ONCE; i++)
		must(pwrite(fd, bytes, BLOCK_ONCE, (off_t)i * BLOCK_ONCE) == BLOCK_ONCE);
	free(bytes);
	must(close(fd) == 0);
}

/* All blocks are there, so that writing needs none of the file system's own. */
static bool make_file(bool direct)
{
	static char bytes[PAGE];
	int fd;

	(void)snprintf(file, sizeof(file), "/var/tmp/kepler-test-io.XXXXXX");
	fd = mkostemp(file, O_CLOEXEC);
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < BLOCK_BYTES / PAGE; i++)
		assert_int_equal(write(fd, bytes, PAGE), PAGE);
	assert_int_equal(fsync(fd), 0);
	(void)close(fd);
	fd = direct ? open(file, O_WRONLY | O_DIRECT | O_CLOEXEC) : -1;
	if (fd >= 0)
		(void)close(fd);
	return !direct || fd >= 0;
}

/* As the kernel itself counts them, on all CPUs. */
static uint64_t block_softirqs(void)
{
	static char text[1 << 20];
	uint64_t sum = 0;
	char *at;

	assert_true(read_file_at(AT_FDCWD, "/proc/softirqs", text, sizeof(text)) > 0);
	at = strstr(text, "BLOCK:");
	assert_non_null(at);
	at += strlen("BLOCK:");
	while (*at == ' ')
		sum += strtoull(at, &at, 10);
	return sum;
}

static void test_a_block_device(void **state)
{
	uint64_t softirqs;

	(void)state;
	begin(IO_WANTED_ON, NULL);
	if (!make_file(true)) {
		print_message("# not possible here: no O_DIRECT in /var/tmp\n");
	} else if (knows(SIGNAL_BLOCK_BYTES)) {
		pass();
		memset(sums, 0, sizeof(sums));
		memset(all, 0, sizeof(all));
		softirqs = block_softirqs();
		wait_for(rig_fork("writer", write_directly, NULL));
		softirqs = block_softirqs() - softirqs;
		pass();
		print_sums("block");
		/* A file system in memory or of another machine has no block device. */
		if (all[SIGNAL_BLOCK_BYTES])
			assert_in_range(sums[SENDER][SIGNAL_BLOCK_BYTES], BLOCK_BYTES,
					BLOCK_BYTES + BLOCK_BYTES / 20);
		/* Not every device has a softirq for each of its requests. */
		if (softirqs >= BLOCK_BYTES / BLOCK_ONCE)
			assert_true(sums[SENDER][SIGNAL_BLOCK_IRQ] > 0);
	}
	(void)unlink(file);
	end();
}

static void read_cached(void *arg)
{
	static char bytes[PAGE];
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	(void)arg;
	enter(SENDER);
	for (unsigned int i = 0; i < BLOCK_BYTES / PAGE; i++)
		must(pread(fd, bytes, PAGE, (off_t)i * PAGE) == PAGE);
	must(close(fd) == 0);
}

static void test_the_page_cache(void **state)
{
	(void)state;
	begin(IO_WANTED_ALL, NULL);
	(void)make_file(false);
	if (knows(SIGNAL_PAGE_CACHE_HITS)) {
		wait_for(rig_fork("reader", read_cached, NULL));
		pass();
		print_sums("page cache");
		assert_in_range(sums[SENDER][SIGNAL_PAGE_CACHE_HITS], BLOCK_BYTES / PAGE,
				BLOCK_BYTES / PAGE + 64);
	}
	(void)unlink(file);
	end();
}

static void test_the_page_cache_is_not_counted_unasked(void **state)
{
	(void)state;
	begin(IO_WANTED_ON, NULL);
	assert_false(io_info().signals & SIGNAL_BIT(SIGNAL_PAGE_CACHE_HITS));
	assert_false(io_info().missing & SIGNAL_BIT(SIGNAL_PAGE_CACHE_HITS));
	end();
	begin(IO_WANTED_OFF, NULL);
	assert_int_equal(io_info().signals, 0);
	assert_int_equal(io_info().missing, 0);
	end();
}

#define ALL_SOFTIRQS                                                                               \
	(SIGNAL_BIT(SIGNAL_NET_TX_IRQ) | SIGNAL_BIT(SIGNAL_NET_RX_IRQ) |                           \
	 SIGNAL_BIT(SIGNAL_BLOCK_IRQ) | SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME))

static void test_each_program_refused(void **state)
{
	static const struct {
		const char *program;
		uint32_t costs;
	} cases[] = {
		{ "softirq_begins", ALL_SOFTIRQS },
		{ "softirq_ends", ALL_SOFTIRQS },
		{ "socket_is_met",
		  SIGNAL_BIT(SIGNAL_NET_RX_IRQ) | SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME) },
		{ "packet_leaves",
		  SIGNAL_BIT(SIGNAL_NET_TX_IRQ) | SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME) },
		{ "bytes_are_moved", SIGNAL_BIT(SIGNAL_NET_BYTES) },
		{ "request_is_made", SIGNAL_BIT(SIGNAL_BLOCK_IRQ) |
					     SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME) |
					     SIGNAL_BIT(SIGNAL_BLOCK_BYTES) },
		{ "bio_is_appended", SIGNAL_BIT(SIGNAL_BLOCK_BYTES) },
		{ "bio_is_prepended", SIGNAL_BIT(SIGNAL_BLOCK_IRQ) |
					      SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME) |
					      SIGNAL_BIT(SIGNAL_BLOCK_BYTES) },
		{ "request_ends", SIGNAL_BIT(SIGNAL_BLOCK_IRQ) | SIGNAL_BIT(SIGNAL_SOFTIRQ_TIME) },
		{ "pages_are_read", SIGNAL_BIT(SIGNAL_PAGE_CACHE_HITS) },
		{ "page_is_written", SIGNAL_BIT(SIGNAL_PAGE_CACHE_HITS) },
	};
	struct io_info whole;

	(void)state;
	begin(IO_WANTED_ALL, NULL);
	whole = io_info();
	end();
	assert_int_equal(whole.refused, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct io_info info;

		begin(IO_WANTED_ALL, cases[i].program);
		info = io_info();
		print_message("# without %s: %s\n", cases[i].program, info.missing_text);
		assert_true(info.refused > 0);
		assert_non_null(strstr(info.missing_text, cases[i].program));
		assert_int_equal(info.signals, whole.signals & ~cases[i].costs);
		assert_int_equal(info.missing, whole.missing | cases[i].costs);
		end();
	}
}

static bool make_groups(void)
{
	for (int group = 0; group < GROUPS; group++) {
		struct stat st;

		(void)snprintf(paths[group], sizeof(paths[group]), "%s/kepler-test-io-%d-%d",
			       hierarchy.root, getpid(), group);
		if (mkdir(paths[group], 0755) < 0 || stat(paths[group], &st) < 0)
			return false;
		ids[group] = st.st_ino;
	}
	return true;
}

static void remove_groups(void)
{
	for (int group = 0; group < GROUPS; group++)
		for (int i = 0; i < 100 && rmdir(paths[group]) < 0 && errno == EBUSY; i++)
			rig_sleep_ms(10);
}

/* In one hierarchy; on a hybrid machine there are two that serve. 0, 1 failed, 77: not possible. */
static int run_in(const char *cgroupfs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stream),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_after_a_long_rest),
		cmocka_unit_test(test_a_block_device),
		cmocka_unit_test(test_the_page_cache),
		cmocka_unit_test(test_the_page_cache_is_not_counted_unasked),
		cmocka_unit_test(test_each_program_refused),
	};
	int r = 77;

	hierarchy_open(cgroupfs, &hierarchy);
	if (hierarchy.fd >= 0 && make_groups()) {
		printf("# ids of %s\n", hierarchy.controller[0] ? hierarchy.controller : "v2");
		r = cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
	}
	remove_groups();
	hierarchy_release(&hierarchy);
	return r;
}

int main(int argc, char **argv)
{
	int r, of_hybrid;

	rig_calibrate();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	r = run_in("/sys/fs/cgroup");
	if (r == 77) {
		printf("SKIP: no cgroup can be made here\n");
		return r;
	}
	of_hybrid = run_in("/sys/fs/cgroup/unified");
	return r || of_hybrid == 1;
}
