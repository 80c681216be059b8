// SPDX-License-Identifier: Apache-2.0
/*
 * An allow-list, in tables: calls that are allowed as they are, and calls that are allowed with
 * certain arguments. x86-64 and arm64 lack some of each other's calls; libseccomp knows which names
 * an architecture has and the rest are passed over. clone3's flags are in memory, where a filter
 * cannot look: it answers ENOSYS, and libc takes clone.
 */
#include "kepler/confine.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"

#ifdef HAVE_SECCOMP

#include <linux/bpf.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

/* From linux/prctl.h of 5.17: names an anonymous mapping, which newer allocators do. */
#define PRCTL_SET_VMA 0x53564d41U

static const char *const allowed[] = {
	/* files: sensors, /proc, the state file, the configuration */
	"read",
	"readv",
	"pread64",
	"preadv",
	"write",
	"writev",
	"pwrite64",
	"close",
	"close_range",
	"openat",
	"openat2",
	"open",
	"lseek",
	"fstat",
	"newfstatat",
	"stat",
	"lstat",
	"statx",
	"fstatfs",
	"statfs",
	"getdents64",
	"readlink",
	"readlinkat",
	"access",
	"faccessat",
	"faccessat2",
	"fcntl",
	"dup",
	"dup3",
	"fsync",
	"fdatasync",
	"rename",
	"renameat",
	"renameat2",
	"unlink",
	"unlinkat",
	"mkdir",
	"mkdirat",
	"fchmod",
	"umask",
	"ftruncate",
	"getcwd",
	"name_to_handle_at",
	"open_by_handle_at",
	/* waiting */
	"poll",
	"ppoll",
	"select",
	"pselect6",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"eventfd2",
	"pipe2",
	"timerfd_create",
	"timerfd_settime",
	"timerfd_gettime",
	"signalfd4",
	"nanosleep",
	"clock_nanosleep",
	"restart_syscall",
	/* sockets that exist */
	"accept",
	"accept4",
	"recvfrom",
	"recvmsg",
	"sendto",
	"sendmsg",
	"sendfile",
	"shutdown",
	"setsockopt",
	"getsockopt",
	"getsockname",
	"getpeername",
	/* memory */
	"brk",
	"munmap",
	"mremap",
	"madvise",
	/* threads, time, who am I */
	"futex",
	"set_robust_list",
	"rseq",
	"sched_yield",
	"sched_getaffinity",
	"membarrier",
	"clock_gettime",
	"clock_getres",
	"gettimeofday",
	"time",
	"getpid",
	"gettid",
	"getppid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getrandom",
	"getrusage",
	"times",
	"getcpu",
	"uname",
	"sysinfo",
	"capget",
	"capset", /* can only give up, as no_new_privs is set and nothing else is permitted */
	/* signals to itself, and the end */
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigtimedwait",
	"sigaltstack",
	"exit",
	"exit_group",
};

struct call_rule {
	const char *name;
	struct scmp_arg_cmp argument;
};

static const struct call_rule rules[] = {
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_LOOKUP_ELEM) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_UPDATE_ELEM) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_DELETE_ELEM) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_GET_NEXT_KEY) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_LOOKUP_AND_DELETE_ELEM) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_LOOKUP_BATCH) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_LOOKUP_AND_DELETE_BATCH) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_UPDATE_BATCH) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_DELETE_BATCH) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_PROG_TEST_RUN) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_ITER_CREATE) },
	/* is it a terminal, how big is it; MHD makes its sockets non-blocking */
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, TCGETS) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, TIOCGWINSZ) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, FIONBIO) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, FIONREAD) },
	{ "prctl", SCMP_A0_32(SCMP_CMP_EQ, PR_SET_NAME) },
	{ "prctl", SCMP_A0_32(SCMP_CMP_EQ, PRCTL_SET_VMA) },
	{ "mmap", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
	{ "mprotect", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
	/* threads of this process, no namespaces */
	{ "clone", SCMP_A0(SCMP_CMP_MASKED_EQ,
			   CLONE_THREAD | CLONE_VM | CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID |
				   CLONE_NEWNET,
			   CLONE_THREAD | CLONE_VM) },
	/* reading limits, not setting them */
	{ "prlimit64", SCMP_A2(SCMP_CMP_EQ, 0) },
};

/* For CONFINE_CLIENTS. netlink: which families of addresses this host has. */
static const char *const client_calls[] = {
	"socket", "socketpair", "connect", "bind", "sendmmsg", "recvmmsg", "mmap", "mprotect",
};

static int add_rule(scmp_filter_ctx filter, uint32_t action, const char *name,
		    const struct scmp_arg_cmp *argument)
{
	int call = seccomp_syscall_resolve_name(name);

	if (call == __NR_SCMP_ERROR || call < 0)
		return 0; /* not a call of this architecture, or newer than libseccomp */
	return seccomp_rule_add_array(filter, action, call, argument ? 1 : 0, argument);
}

static int fill(scmp_filter_ctx filter, unsigned flags)
{
	const struct scmp_arg_cmp self = SCMP_A0_32(SCMP_CMP_EQ, (scmp_datum_t)getpid());
	int r = add_rule(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", NULL);

	if (r == 0)
		r = add_rule(filter, SCMP_ACT_ALLOW, "tgkill", &self); /* abort() */
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(allowed); i++)
		r = add_rule(filter, SCMP_ACT_ALLOW, allowed[i], NULL);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rules); i++)
		r = add_rule(filter, SCMP_ACT_ALLOW, rules[i].name, &rules[i].argument);
	for (size_t i = 0; r == 0 && (flags & CONFINE_CLIENTS) && i < ARRAY_SIZE(client_calls); i++)
		r = add_rule(filter, SCMP_ACT_ALLOW, client_calls[i], NULL);
	return r;
}

static int load(scmp_filter_ctx filter, unsigned flags)
{
	int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
	if (r == 0)
		r = fill(filter, flags);
	return r < 0 ? r : seccomp_load(filter);
}

int confine_apply(unsigned flags, struct diag *diag)
{
	const bool log_only = flags & CONFINE_LOG_ONLY;
	scmp_filter_ctx filter = seccomp_init(log_only ? SCMP_ACT_LOG : SCMP_ACT_KILL_PROCESS);
	int r;

	if (!filter)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = load(filter, flags);
	seccomp_release(filter);
	if (r < 0)
		return diag_set(diag, r, "the kernel takes no system call filter: %s",
				strerrordesc_np(-r));
	return 0;
}

bool confine_is_supported(struct diag *diag)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)diag_set(diag, 0, "this build has sanitizers, which want system calls of their own");
	return false;
#else
	(void)diag;
	return true;
#endif
}

#else

int confine_apply(unsigned flags, struct diag *diag)
{
	(void)flags;
	return diag_set(diag, -EOPNOTSUPP, "this build has no libseccomp");
}

bool confine_is_supported(struct diag *diag)
{
	(void)diag_set(diag, 0, "this build has no libseccomp");
	return false;
}

#endif

int confine_enter(unsigned flags, struct diag *diag)
{
	return confine_is_supported(diag) ? confine_apply(flags, diag) : -EOPNOTSUPP;
}
