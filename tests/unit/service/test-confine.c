// SPDX-License-Identifier: Apache-2.0
/*
 * S3: what is left works; what an intruder would call ends the process, everything else is denied
 * and counted. Each try is made in a process of its own.
 */
#include "service/confine.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "base/thread.h"
#include "service/denied_calls.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

/* A node's exporter that asks nothing for names. */
#define USUAL (NEED_BPF | NEED_CGROUP_HANDLE | NEED_READ_ENERGY)

static long bpf(enum bpf_cmd command)
{
	union bpf_attr attr = { .map_fd = UINT32_MAX };

	return syscall(SYS_bpf, command, &attr, sizeof(attr));
}

struct
try {
	const char *name;
	long (*call)(void);
};

static long try_exec(void)
{
	return syscall(SYS_execve, "/bin/true", NULL, NULL);
}
static long try_fork(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static long try_ptrace(void)
{
	return syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}
static long try_mount(void)
{
	return syscall(SYS_mount, "none", "/nonexistent", "tmpfs", 0, 0);
}
static long try_socket(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}
static long try_connect(void)
{
	return syscall(SYS_connect, -1, 0, 0);
}
static long try_module(void)
{
	return syscall(SYS_finit_module, -1, "", 0);
}
static long try_kill(void)
{
	return syscall(SYS_kill, 1, 0);
}
static long try_executable_memory(void)
{
	return syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
}
static long try_make_executable(void)
{
	return syscall(SYS_mprotect, 0, 4096, PROT_EXEC);
}
static long try_dumpable(void)
{
	return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}
static long try_set_limit(void)
{
	struct rlimit limit = { 1, 1 };

	return syscall(SYS_prlimit64, 0, RLIMIT_CORE, &limit, 0);
}
static long try_tty_injection(void)
{
	return syscall(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, "x");
}
static long try_prog_load(void)
{
	return bpf(BPF_PROG_LOAD);
}
static long try_btf_load(void)
{
	return bpf(BPF_BTF_LOAD);
}
static long try_map_create(void)
{
	return bpf(BPF_MAP_CREATE);
}
static long try_link_create(void)
{
	return bpf(BPF_LINK_CREATE);
}
static long try_raw_tracepoint(void)
{
	return bpf(BPF_RAW_TRACEPOINT_OPEN);
}
static long try_perf_event(void)
{
	return syscall(SYS_perf_event_open, 0, 0, 0, 0, 0);
}
static long try_keyring(void)
{
	return syscall(SYS_keyctl, 0, 0);
}
static long try_io_uring(void)
{
	return syscall(425, 1, 0); /* io_uring_setup */
}
static long try_another_kernel(void)
{
	return syscall(600, 1, 0); /* a call that nothing knows */
}
static long try_unshare(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}
static long try_setns(void)
{
	return syscall(SYS_setns, -1, 0);
}
static long try_peek(void)
{
	return syscall(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0);
}
static long try_open_tree(void)
{
	return syscall(428, -1, "/", 0); /* open_tree */
}
static long try_kexec(void)
{
	return syscall(SYS_kexec_load, 0, 0, 0, 0);
}
static long try_user_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
}

static const struct try deadly[] = {
	{ "execve", try_exec },
	{ "ptrace", try_ptrace },
	{ "process_vm_readv", try_peek },
	{ "mount", try_mount },
	{ "open_tree", try_open_tree },
	{ "unshare", try_unshare },
	{ "setns", try_setns },
	{ "clone(CLONE_NEWUSER)", try_user_namespace },
	{ "finit_module", try_module },
	{ "kexec_load", try_kexec },
	{ "perf_event_open", try_perf_event },
	{ "executable mmap", try_executable_memory },
	{ "executable mprotect", try_make_executable },
	{ "ioctl(TIOCSTI)", try_tty_injection },
	{ "bpf(PROG_LOAD)", try_prog_load },
	{ "bpf(BTF_LOAD)", try_btf_load },
	{ "bpf(MAP_CREATE)", try_map_create },
	{ "bpf(LINK_CREATE)", try_link_create },
	{ "bpf(RAW_TRACEPOINT_OPEN)", try_raw_tracepoint },
};

static const struct {
	struct try try;
	int error;
} denied[] = {
	{ { "fork", try_fork }, EPERM },
	{ { "socket", try_socket }, EPERM },
	{ { "connect", try_connect }, EPERM },
	{ { "kill", try_kill }, EPERM },
	{ { "prctl(PR_SET_DUMPABLE)", try_dumpable }, EPERM },
	{ { "setrlimit", try_set_limit }, EPERM },
	{ { "keyctl", try_keyring }, EPERM },
	{ { "io_uring_setup", try_io_uring }, EPERM },
	{ { "another kernel's", try_another_kernel }, ENOSYS },
};

static int confined_try(const void *argument)
{
	const struct try *try = argument;
	const struct rlimit no_core = { 0, 0 };
	struct diag diag;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	if (confine_apply(USUAL, false, &diag) < 0)
		return 42;
	(void)try->call();
	return 0;
}

static void deadly_kills(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		int status = in_child(confined_try, &deadly[i]);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s: wait status %#x", deadly[i].name, (unsigned)status);
	}
}

/* The error that each gets, and how many were counted: 200 + i for the i-th that is wrong. */
static int denied_tries(const void *argument)
{
	struct diag diag;

	(void)argument;
	if (confine_apply(USUAL, false, &diag) < 0)
		return 42;
	for (unsigned i = 0; i < ARRAY_SIZE(denied); i++) {
		errno = 0;
		if (denied[i].try.call() != -1 || errno != denied[i].error ||
		    denied_calls_count() != i + 1)
			return 200 + (int)i;
	}
	return 0;
}

static void others_are_denied(void **state)
{
	int status;

	status = in_child(denied_tries, NULL);
	if (WEXITSTATUS(status) >= 200)
		fail_msg("%s is answered otherwise", denied[WEXITSTATUS(status) - 200].try.name);
	assert_int_equal(status, 0);
}

static int try_with_signals_blocked(const void *argument)
{
	struct diag diag;
	sigset_t all;

	(void)argument;
	thread_blocked_signals(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || confine_apply(USUAL, false, &diag) < 0)
		return 42;
	return try_socket() == -1 && errno == EPERM ? 0 : 1;
}

/* The kernel ends a thread that blocks SIGSYS and makes a call that is answered by it. */
static void threads_do_not_block_the_answer(void **state)
{
	assert_int_equal(in_child(try_with_signals_blocked, NULL), 0);
}

static int try_with_a_vendors_library(const void *argument)
{
	const unsigned *need = argument;
	struct diag diag;

	if (confine_apply(USUAL | *need, false, &diag) < 0)
		return 42;
	return try_executable_memory() == -1 && errno == EPERM && try_make_executable() == -1 &&
			       errno == EPERM
		       ? 0
		       : 1;
}

/* It may try to, for reasons of its own: it gets none, and the program goes on. */
static void a_vendors_library_may_ask_for_executable_memory(void **state)
{
	const unsigned needs[] = { NEED_GPU, NEED_GAUDI };

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		assert_int_equal(in_child(try_with_a_vendors_library, &needs[i]), 0);
}

static bool is_request_denied(unsigned long request)
{
	return ioctl(-1, request, NULL) == -1 && errno == EPERM;
}

static int try_requests_of_gaudi(const void *argument)
{
	struct diag diag;

	(void)argument;
	if (confine_apply(USUAL | NEED_GAUDI, false, &diag) < 0)
		return 42;
	if (is_request_denied(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0x40, 24)) ||
	    is_request_denied(_IOC(_IOC_READ | _IOC_WRITE, 'H', 0x01, 24)))
		return 1;
	/* To submit work. */
	if (!is_request_denied(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0x42, 32)) ||
	    !is_request_denied(_IOC(_IOC_READ | _IOC_WRITE, 'H', 0x03, 32)))
		return 2;
	return 0;
}

static void gaudi_is_asked_for_information_alone(void **state)
{
	assert_int_equal(in_child(try_requests_of_gaudi, NULL), 0);
}

static int try_events_of_a_meter(const void *argument)
{
	struct diag diag;

	(void)argument;
	if (confine_apply(USUAL | NEED_PERF_ENERGY, false, &diag) < 0)
		return 42;
	if (syscall(SYS_perf_event_open, NULL, -1, 0, -1, 0) != -1 || errno != EFAULT)
		return 1;
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) == -1 && errno == EPERM ? 0 : 2;
}

/* CPUs, and not processes. */
static void a_meter_may_open_events(void **state)
{
	assert_int_equal(in_child(try_events_of_a_meter, NULL), 0);
}

static int told_try(const void *argument)
{
	const int *log = argument;
	struct diag diag;

	if (dup2(*log, STDERR_FILENO) < 0 || confine_apply(USUAL, false, &diag) < 0)
		return 42;
	for (int i = 0; i < 3; i++) {
		(void)syscall(SYS_ioctl, 0, 0x1234, 0);
		(void)try_keyring();
		(void)try_another_kernel();
		denied_calls_tell();
	}
	return 0;
}

static void each_is_reported_once(void **state)
{
	static const char *const texts[] = { "ioctl of 0x1234 gets EPERM", "keyctl (",
					     "unknown (600) gets ENOSYS" };
	char log[4096] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(in_child(told_try, &ends[1]), 0);
	assert_true(read(ends[0], log, sizeof(log) - 1) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *found = strstr(log, texts[i]);

		if (!found || strstr(found + 1, texts[i]))
			fail_msg("%s is not told once: %s", texts[i], log);
	}
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(close(ends[1]), 0);
}

static int logged_try(const void *argument)
{
	struct diag diag;

	(void)argument;
	if (confine_apply(USUAL, true, &diag) < 0)
		return 42;
	return try_socket() >= 0 ? 0 : 1;
}

static void log_only_lets_pass(void **state)
{
	assert_int_equal(in_child(logged_try, NULL), 0);
}

static void *thread_body(void *argument)
{
	return argument;
}

/*
 * The steps of a reading, a scrape and a reload. Returns the number of the first step that fails.
 */
static int allowed_steps(const void *argument)
{
	const int *connection = argument;
	const struct timespec soon = { .tv_nsec = 1000 };
	char buf[64], path[64];
	struct ifreq interface = { .ifr_name = "lo" };
	pthread_t thread;
	struct diag diag;
	void *result, *memory;
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/kepler-test-confine-%d", (int)getpid());
	if (confine_apply(USUAL, false, &diag) < 0)
		return 42;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, buf, sizeof(buf)) <= 0 || pread(fd, buf, 8, 0) != 8 || close(fd) < 0)
		return 1;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0 || close(fd) < 0 || unlink(path) < 0)
		return 2;
	memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || munmap(memory, 1 << 20) < 0)
		return 3;
	if (pthread_create(&thread, NULL, thread_body, buf) != 0 ||
	    pthread_join(thread, &result) != 0 || result != buf)
		return 4; /* by clone, since clone3 answers ENOSYS */
	if (send(connection[0], "y", 1, MSG_NOSIGNAL) != 1 || recv(connection[1], buf, 1, 0) != 1)
		return 5; /* the notify socket, an HTTP connection */
	if (bpf(BPF_MAP_LOOKUP_ELEM) != -1 || errno != EBADF)
		return 6;
	if (bpf(BPF_PROG_TEST_RUN) != -1 || errno == ENOSYS)
		return 7;
	if (bpf(BPF_ITER_CREATE) != -1 || errno == ENOSYS)
		return 8;
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL) != 0)
		return 9;
	if (prctl(PR_SET_NAME, "confined", 0, 0, 0) < 0)
		return 10;
	if (ioctl(connection[0], SIOCOUTQ, &fd) < 0 ||
	    ioctl(connection[0], SIOCGIFINDEX, &interface) < 0)
		return 11; /* what a peer has not read; the zone of an address */
	return 0;
}

static void allowed_passes(void **state)
{
	int connection[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, connection), 0);
	assert_int_equal(in_child(allowed_steps, connection), 0);
	assert_int_equal(close(connection[0]), 0);
	assert_int_equal(close(connection[1]), 0);
}

/* How many of three calls are denied to a program with the needs that @argument points to. */
static int tries_of_needs(const void *argument)
{
	struct diag diag;

	if (confine_apply(*(const unsigned *)argument, false, &diag) < 0)
		return 42;
	(void)bpf(BPF_MAP_LOOKUP_ELEM);
	(void)syscall(SYS_open_by_handle_at, -1, NULL, 0);
	(void)try_socket();
	return (int)denied_calls_count();
}

/* Sockets of virtual machines: listens and connects there, as QEMU does. */
static int guest_steps(const void *argument)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct diag diag;
	int listener, fd;

	(void)argument;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/kepler-test-confine-%d",
		       (int)getpid());
	if (confine_apply(NEED_GUESTS, false, &diag) < 0)
		return 42;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(address.sun_path, 0600) < 0 || listen(listener, 1) < 0)
		return 1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchown(listener, (uid_t)-1, getegid()) < 0)
		return 2;
	if (unlink(address.sun_path) < 0 || (rmdir("/") < 0 && errno == EPERM))
		return 3;
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 ? 0 : 4;
}

static void guests_have_unix_sockets_alone(void **state)
{
	assert_int_equal(in_child(guest_steps, NULL), 0);
}

static void calls_follow_the_needs(void **state)
{
	static const struct {
		unsigned needs;
		int denied;
	} table[] = {
		{ 0, 3 },
		{ NEED_READ_ENERGY, 3 },
		{ NEED_BPF, 2 },
		{ NEED_CGROUP_HANDLE, 2 },
		{ NEED_CLIENTS, 2 },
		{ NEEDS_ALL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int status = in_child(tries_of_needs, &table[i].needs);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != table[i].denied)
			fail_msg("needs %#x: wait status %#x", table[i].needs, (unsigned)status);
	}
}

static void *wait_and_try(void *argument)
{
	const int *go = argument;
	char byte;

	if (read(*go, &byte, 1) == 1)
		(void)try_ptrace();
	return NULL;
}

/* A thread that was there before is confined with the rest, and its death is the process's. */
static int try_in_older_thread(const void *argument)
{
	const struct rlimit no_core = { 0, 0 };
	struct diag diag;
	pthread_t thread;
	int go[2];

	(void)argument;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	if (pipe(go) < 0 || pthread_create(&thread, NULL, wait_and_try, &go[0]) != 0)
		return 43;
	if (confine_apply(USUAL, false, &diag) < 0)
		return 42;
	if (write(go[1], "g", 1) != 1)
		return 44;
	return pthread_join(thread, NULL);
}

static void confines_every_thread(void **state)
{
	int status;

	status = in_child(try_in_older_thread, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void says_when_it_cannot(void **state)
{
	struct diag diag = { 0 };

	if (!confine_is_supported(&diag)) {
		assert_int_equal(confine_enter(USUAL, false, &diag), -EOPNOTSUPP);
		assert_non_null(strstr(diag.text, "this build has"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadly_kills),
		cmocka_unit_test(others_are_denied),
		cmocka_unit_test(threads_do_not_block_the_answer),
		cmocka_unit_test(a_vendors_library_may_ask_for_executable_memory),
		cmocka_unit_test(gaudi_is_asked_for_information_alone),
		cmocka_unit_test(a_meter_may_open_events),
		cmocka_unit_test(each_is_reported_once),
		cmocka_unit_test(log_only_lets_pass),
		cmocka_unit_test(allowed_passes),
		cmocka_unit_test(calls_follow_the_needs),
		cmocka_unit_test(guests_have_unix_sockets_alone),
		cmocka_unit_test(confines_every_thread),
		cmocka_unit_test(says_when_it_cannot),
	};
	struct diag diag = { 0 };

	if (!confine_is_supported(&diag) && strstr(diag.text, "libseccomp")) {
		(void)printf("1..0 # SKIP %s\n", diag.text);
		return 0;
	}
	return unit_run(tests);
}
