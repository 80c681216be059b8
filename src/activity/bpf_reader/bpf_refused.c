// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel returns EPERM for four different reasons and libbpf ESRCH for a fifth, so the errno is
 * not enough: the process's capabilities and the kernel's features decide which sentence is true.
 * The first that applies is reported, in the order in which the causes have to be corrected.
 */
#include "activity/bpf_reader/bpf_refused.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define OLDEST_MAJOR 5
#define OLDEST_MINOR 8 /* ring buffer, task iterator */

static bool has_capability(const struct __user_cap_data_struct *caps, unsigned int cap)
{
	return caps[cap / 32].effective & 1U << cap % 32;
}

static bool is_locked_down(void)
{
	char text[128];

	/* "none integrity [confidentiality]"; unknown without securityfs */
	return read_file_at(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

void bpf_refusal_inspect(int err, struct bpf_refusal *ret)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct bpf_refusal refusal = { .err = err };
	struct rlimit memlock = { .rlim_cur = RLIM_INFINITY };
	bool is_admin;

	(void)syscall(SYS_capget, &header, caps); /* cannot fail for ourselves */
	is_admin = has_capability(caps, CAP_SYS_ADMIN);
	refusal.has_cap_bpf = is_admin || has_capability(caps, CAP_BPF);
	refusal.has_cap_perfmon = is_admin || has_capability(caps, CAP_PERFMON);
	refusal.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	refusal.locked_down = is_locked_down();
	refusal.kernel = kernel_version_read();
	(void)getrlimit(RLIMIT_MEMLOCK, &memlock);
	refusal.memlock_limited = kernel_version_is_before(refusal.kernel, 5, 11) &&
				  memlock.rlim_cur != RLIM_INFINITY;
	*ret = refusal;
}

void bpf_refusal_explain(const struct bpf_refusal *refusal, char *text, size_t size)
{
	if (kernel_version_is_before(refusal->kernel, OLDEST_MAJOR, OLDEST_MINOR))
		(void)snprintf(text, size,
			       "Linux %u.%u has no BPF task iterator; boot 5.8 or newer",
			       refusal->kernel.major, refusal->kernel.minor);
	else if (!refusal->has_btf)
		(void)snprintf(text, size,
			       "the kernel has no type information in /sys/kernel/btf/vmlinux; "
			       "boot one built with CONFIG_DEBUG_INFO_BTF=y");
	else if (!refusal->has_cap_bpf || !refusal->has_cap_perfmon)
		(void)snprintf(text, size,
			       "missing %s%s%s; run as root, or grant them with "
			       "AmbientCapabilities=CAP_BPF CAP_PERFMON",
			       refusal->has_cap_bpf ? "" : "CAP_BPF",
			       !refusal->has_cap_bpf && !refusal->has_cap_perfmon ? " and " : "",
			       refusal->has_cap_perfmon ? "" : "CAP_PERFMON");
	else if (refusal->locked_down)
		(void)snprintf(text, size,
			       "kernel lockdown (confidentiality) forbids BPF to read kernel "
			       "memory; boot with lockdown=integrity");
	else if (refusal->memlock_limited)
		(void)snprintf(text, size,
			       "BPF memory is limited by RLIMIT_MEMLOCK before Linux 5.11; "
			       "set LimitMEMLOCK=infinity (ulimit -l unlimited)");
	else if (refusal->err == -EPERM || refusal->err == -EACCES)
		(void)snprintf(text, size,
			       "bpf() is forbidden although the capabilities are there (%s); "
			       "allow it in the container's seccomp profile or security module",
			       strerrordesc_np(-refusal->err));
	else
		(void)snprintf(text, size,
			       "the kernel refused the programs (%s); --log.level=debug shows the "
			       "output of its verifier",
			       strerrordesc_np(-refusal->err));
}
