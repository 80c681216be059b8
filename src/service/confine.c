// SPDX-License-Identifier: Apache-2.0
/*
 * Lists, in tables: calls that are allowed as they are, calls that are allowed with certain
 * arguments, and calls that only an intruder makes. x86-64 and arm64 lack some of each other's
 * calls; libseccomp knows which names an architecture has, and the others are skipped. clone3's
 * flags are in memory, where a filter cannot read them: it returns ENOSYS, and libc uses clone.
 *
 * Calls that are in none of them are denied by SECCOMP_RET_TRAP: the kernel sends the thread
 * SIGSYS, and the handler counts the call and sets its result. SECCOMP_RET_ERRNO would be silent;
 * SECCOMP_RET_LOG makes the call; SECCOMP_RET_USER_NOTIF needs a supervisor, which would be under
 * the filter itself. None of them costs anything where no call is denied.
 */
#include "service/confine.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "service/denied_calls.h"

#ifdef HAVE_SECCOMP

#include <linux/bpf.h>
#include <linux/ipmi.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

/* From linux/prctl.h of 5.17: names an anonymous mapping, which newer allocators do. */
#define PRCTL_SET_VMA 0x53564d41U
/* From asm/termbits.h, which clashes with termios.h: what tcgetattr() of newer libcs asks. */
#define IOCTL_TCGETS2 0x802c542aU

static const char *const allowed[] = {
	/* files: sensors, /proc, the state file, the configuration */
	"read",
	"readv",
	"pread64",
	"preadv",
	"write",
	"writev",
	"pwrite64",
	"pwritev2", /* a line of the log, without waiting */
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
	/* threads, time, own ids */
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
	"getresuid",
	"getresgid",
	"getgroups",
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

/* For NEED_BPF. */
static const struct call_rule bpf_rules[] = {
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
};

/*
 * For NEED_GPU: requests of NVIDIA's drivers have the type 'F' (NV_IOCTL_MAGIC of its open kernel
 * modules).
 */
static const struct call_rule gpu_rules[] = {
	{ "ioctl", SCMP_A1_32(SCMP_CMP_MASKED_EQ, 0xff00U, 'F' << 8) },
};

/*
 * For NEED_GAUDI: to ask the driver for information (HL_INFO), of all sizes that it has; in
 * include/uapi/drm/habanalabs_accel.h, and in its own header before.
 */
static const struct call_rule gaudi_rules[] = {
	{ "ioctl", SCMP_A1_32(SCMP_CMP_MASKED_EQ, 0xffffU, 'd' << 8 | 0x40) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_MASKED_EQ, 0xffffU, 'H' << 8 | 0x01) },
};

/* For NEED_PERF_ENERGY: events of a CPU, and not of a process. */
static const struct call_rule perf_rules[] = {
	{ "perf_event_open", SCMP_A1_32(SCMP_CMP_EQ, UINT32_MAX) },
};

/* For NEED_IPMI: to send a request, and to take its answer. */
static const struct call_rule ipmi_rules[] = {
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, IPMICTL_SEND_COMMAND) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, IPMICTL_RECEIVE_MSG_TRUNC) },
};

/* For NEED_CGROUP_HANDLE. */
static const char *const handle_calls[] = { "open_by_handle_at" };

static const struct call_rule rules[] = {
	/* whether it is a terminal, and its size; MHD makes its sockets non-blocking */
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, TCGETS) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, IOCTL_TCGETS2) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, TIOCGWINSZ) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, FIONBIO) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, FIONREAD) },
	/*
	 * bytes of an answer that a peer has not read yet; the zone of an address, "fe80::1%eth0"
	 */
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, SIOCOUTQ) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, SIOCGIFINDEX) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, SIOCGIFNAME) },
	{ "prctl", SCMP_A0_32(SCMP_CMP_EQ, PR_SET_NAME) },
	{ "prctl", SCMP_A0_32(SCMP_CMP_EQ, PR_GET_NAME) },
	{ "prctl", SCMP_A0_32(SCMP_CMP_EQ, PR_CAPBSET_READ) }, /* libsystemd's bus client */
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

/* For NEED_CLIENTS. netlink: which families of addresses this host has. */
static const char *const client_calls[] = {
	"socket",
	"socketpair",
	"connect",
	"bind",
	"sendmmsg",
	"recvmmsg",
	"mmap",
	"mprotect",
	/* a kubeconfig's certificates: it may appear after the start */
	"memfd_create",
};

/* For NEED_GUESTS: unix sockets alone, and the group of a guest's directory. */
static const struct call_rule guest_rules[] = {
	{ "socket", SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX) },
};
static const char *const guest_calls[] = {
	"connect", "bind", "listen", "chmod", "fchmodat", "fchown", "rmdir",
};

/*
 * Calls that this program never makes and an intruder makes first: to run a program, to access
 * other processes, to change mounts, namespaces or the kernel. They end the process.
 */
static const char *const deadly[] = {
	"execve",
	"execveat",
	"uselib",
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"process_madvise",
	"pidfd_getfd",
	"userfaultfd",
	"mount",
	"umount",
	"umount2",
	"mount_setattr",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"pivot_root",
	"chroot",
	"setns",
	"unshare",
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"reboot",
	"swapon",
	"swapoff",
	"acct",
	"iopl",
	"ioperm",
};

static const struct call_rule deadly_rules[] = {
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_MAP_CREATE) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_PROG_LOAD) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_PROG_ATTACH) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_RAW_TRACEPOINT_OPEN) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_BTF_LOAD) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_LINK_CREATE) },
	{ "bpf", SCMP_A0_32(SCMP_CMP_EQ, BPF_LINK_UPDATE) },
	{ "ioctl", SCMP_A1_32(SCMP_CMP_EQ, TIOCSTI) },
	{ "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWNS, CLONE_NEWNS) },
	{ "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER) },
};

/*
 * Executable memory that is not part of the program. libc loads modules with NEED_CLIENTS. With
 * NEED_GPU or NEED_GAUDI a vendor's library may try to, which is denied, and must not end the
 * program.
 */
static const struct call_rule executable_memory[] = {
	{ "mmap", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC) },
	{ "mprotect", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC) },
};

static int add_rule(scmp_filter_ctx filter, uint32_t action, const char *name,
		    const struct scmp_arg_cmp *argument)
{
	int call = seccomp_syscall_resolve_name(name);

	if (call == __NR_SCMP_ERROR || call < 0)
		return 0; /* not a call of this architecture, or newer than libseccomp */
	return seccomp_rule_add_array(filter, action, call, argument ? 1 : 0, argument);
}

static int add_names(scmp_filter_ctx filter, uint32_t action, const char *const *names,
		     size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_rule(filter, action, names[i], NULL);
	return r;
}

static int add_rules(scmp_filter_ctx filter, uint32_t action, const struct call_rule *some,
		     size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_rule(filter, action, some[i].name, &some[i].argument);
	return r;
}

static int allow(scmp_filter_ctx filter, unsigned needs)
{
	const struct scmp_arg_cmp self = SCMP_A0_32(SCMP_CMP_EQ, (scmp_datum_t)getpid());
	int r = add_rule(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", NULL);

	if (r == 0)
		r = add_rule(filter, SCMP_ACT_ALLOW, "tgkill", &self); /* abort() */
	if (r == 0)
		r = add_names(filter, SCMP_ACT_ALLOW, allowed, ARRAY_SIZE(allowed));
	if (r == 0)
		r = add_rules(filter, SCMP_ACT_ALLOW, rules, ARRAY_SIZE(rules));
	if (r == 0 && (needs & NEED_BPF))
		r = add_rules(filter, SCMP_ACT_ALLOW, bpf_rules, ARRAY_SIZE(bpf_rules));
	if (r == 0 && (needs & NEED_GPU))
		r = add_rules(filter, SCMP_ACT_ALLOW, gpu_rules, ARRAY_SIZE(gpu_rules));
	if (r == 0 && (needs & NEED_GAUDI))
		r = add_rules(filter, SCMP_ACT_ALLOW, gaudi_rules, ARRAY_SIZE(gaudi_rules));
	if (r == 0 && (needs & NEED_IPMI))
		r = add_rules(filter, SCMP_ACT_ALLOW, ipmi_rules, ARRAY_SIZE(ipmi_rules));
	if (r == 0 && (needs & NEED_PERF_ENERGY))
		r = add_rules(filter, SCMP_ACT_ALLOW, perf_rules, ARRAY_SIZE(perf_rules));
	if (r == 0 && (needs & NEED_CGROUP_HANDLE))
		r = add_names(filter, SCMP_ACT_ALLOW, handle_calls, ARRAY_SIZE(handle_calls));
	if (r == 0 && (needs & NEED_CLIENTS))
		r = add_names(filter, SCMP_ACT_ALLOW, client_calls, ARRAY_SIZE(client_calls));
	if (r == 0 && (needs & NEED_GUESTS))
		r = add_names(filter, SCMP_ACT_ALLOW, guest_calls, ARRAY_SIZE(guest_calls));
	if (r == 0 && (needs & NEED_GUESTS) && !(needs & NEED_CLIENTS))
		r = add_rules(filter, SCMP_ACT_ALLOW, guest_rules, ARRAY_SIZE(guest_rules));
	return r;
}

static int forbid(scmp_filter_ctx filter, unsigned needs)
{
	int r = add_names(filter, SCMP_ACT_KILL_PROCESS, deadly, ARRAY_SIZE(deadly));

	if (r == 0)
		r = add_rules(filter, SCMP_ACT_KILL_PROCESS, deadly_rules,
			      ARRAY_SIZE(deadly_rules));
	if (r == 0 && !(needs & NEED_PERF_ENERGY))
		r = add_rule(filter, SCMP_ACT_KILL_PROCESS, "perf_event_open", NULL);
	if (r == 0 && !(needs & (NEED_CLIENTS | NEED_GPU | NEED_GAUDI)))
		r = add_rules(filter, SCMP_ACT_KILL_PROCESS, executable_memory,
			      ARRAY_SIZE(executable_memory));
	return r;
}

static int load(scmp_filter_ctx filter, unsigned needs, bool log_only)
{
	int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
	if (r == 0)
		r = allow(filter, needs);
	if (r == 0 && !log_only)
		r = forbid(filter, needs);
	if (r == 0)
		r = denied_calls_catch();
	return r < 0 ? r : seccomp_load(filter);
}

/* All that service/fdinfo_helper.c calls, and the C library for it. */
static const char *const helper_calls[] = {
	"recvfrom", "sendmsg",      "openat",     "statx",      "getdents64",    "close",   "fstat",
	"fcntl",    "brk",          "newfstatat", "munmap",     "mremap",        "madvise", "futex",
	"lseek",    "rt_sigreturn", "exit",       "exit_group", "clock_gettime",
};
/* Memory is not executable. */
static const struct call_rule helper_rules[] = {
	{ "mmap", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
	{ "mprotect", SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
};

int confine_fdinfo_helper(struct diag *diag)
{
	scmp_filter_ctx filter;
	int r;

	if (!confine_is_supported(diag))
		return -EOPNOTSUPP;
	filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = add_names(filter, SCMP_ACT_ALLOW, helper_calls, ARRAY_SIZE(helper_calls));
	if (r == 0)
		r = add_rules(filter, SCMP_ACT_ALLOW, helper_rules, ARRAY_SIZE(helper_rules));
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r < 0 ? diag_set(diag, r, "the kernel refused the system call filter: %s",
				strerrordesc_np(-r))
		     : 0;
}

int confine_apply(unsigned needs, bool log_only, struct diag *diag)
{
	scmp_filter_ctx filter = seccomp_init(log_only ? SCMP_ACT_LOG : SCMP_ACT_TRAP);
	int r;

	if (!filter)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = load(filter, needs, log_only);
	seccomp_release(filter);
	if (r < 0)
		return diag_set(diag, r, "the kernel refused the system call filter: %s",
				strerrordesc_np(-r));
	return 0;
}

bool confine_is_supported(struct diag *diag)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)diag_set(diag, 0, "this build has sanitizers, which need additional system calls");
	return false;
#else
	(void)diag;
	return true;
#endif
}

#else

int confine_apply(unsigned needs, bool log_only, struct diag *diag)
{
	(void)needs;
	(void)log_only;
	return diag_set(diag, -EOPNOTSUPP, "this build has no libseccomp");
}

int confine_fdinfo_helper(struct diag *diag)
{
	return diag_set(diag, -EOPNOTSUPP, "this build has no libseccomp");
}

bool confine_is_supported(struct diag *diag)
{
	(void)diag_set(diag, 0, "this build has no libseccomp");
	return false;
}

#endif

int confine_enter(unsigned needs, bool log_only, struct diag *diag)
{
	return confine_is_supported(diag) ? confine_apply(needs, log_only, diag) : -EOPNOTSUPP;
}
