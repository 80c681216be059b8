// SPDX-License-Identifier: Apache-2.0
/*
 * Least privilege, by libcap-ng. Whether running a loaded program needs CAP_BPF is tested, not
 * derived from the kernel's version: without the capability, bpf() with an invalid descriptor fails
 * with EPERM where it is needed and with EBADF where it is not (the change, commit c8644cd0efe7 of
 * 5.19, was backported to some kernels).
 */
#include "service/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"
#include "host/kernel_version.h"

#define BIT(capability) (1ULL << (capability))

static bool have(unsigned capability)
{
	return capng_have_capability(CAPNG_EFFECTIVE, capability) == 1;
}

void privileges_read(struct privilege_state *ret)
{
	struct rlimit memlock = { 0 };

	(void)capng_get_caps_process(); /* on failure none counts as held */
	(void)getrlimit(RLIMIT_MEMLOCK, &memlock);
	*ret = (struct privilege_state){
		.runner = privileges_runner(),
		.root = geteuid() == 0,
		.cap_bpf = have(CAP_BPF),
		.cap_perfmon = have(CAP_PERFMON),
		.cap_dac_read_search = have(CAP_DAC_READ_SEARCH),
		.cap_dac_override = have(CAP_DAC_OVERRIDE),
		.cap_sys_resource = have(CAP_SYS_RESOURCE),
		.cap_sys_admin = have(CAP_SYS_ADMIN),
		.memlock_is_charged = kernel_version_is_before(kernel_version_read(), 5, 11),
		.memlock_unlimited = memlock.rlim_cur == RLIM_INFINITY,
	};
}

#define SETCAP "sudo setcap cap_bpf,cap_perfmon,cap_dac_read_search=ep $(command -v kepler)"
#define BPF_REMEDIES                                                                               \
	{                                                                                          \
		[RUN_BY_PERSON] = ("CAP_BPF and CAP_PERFMON: sudo kepler; or once: " SETCAP),      \
		[RUN_BY_SYSTEMD] = "AmbientCapabilities=CAP_BPF CAP_PERFMON in the unit",          \
		[RUN_IN_CONTAINER] = ("CAP_BPF and CAP_PERFMON for the container: capabilities: "  \
				      "{add: [BPF, PERFMON]}"),                                    \
	}

/* A gap, with its remedy for each runner. */
struct gap {
	const char *missing, *consequence, *remedies[PROGRAM_RUNNERS];
};

static const struct gap gap_bpf = {
	"CAP_BPF", "BPF programs cannot be loaded, so processes are read from /proc", BPF_REMEDIES
};
static const struct gap gap_perfmon = {
	"CAP_PERFMON", "BPF programs cannot read the kernel, so processes are read from /proc",
	BPF_REMEDIES
};
static const struct gap gap_memlock = {
	"LimitMEMLOCK=infinity",
	"before Linux 5.11, BPF memory counts against RLIMIT_MEMLOCK, so processes are read from "
	"/proc",
	{
		[RUN_BY_PERSON] = "sudo kepler; or as root, ulimit -l unlimited before it",
		[RUN_BY_SYSTEMD] = "LimitMEMLOCK=infinity in the unit",
		[RUN_IN_CONTAINER] = "an unlimited memlock limit (ulimit -l) for the container",
	}
};
static const struct gap gap_read = {
	"CAP_DAC_READ_SEARCH",
	"energy_uj is readable by root only, and cgroups cannot be opened by their id",
	{
		[RUN_BY_PERSON] = ("CAP_DAC_READ_SEARCH: sudo kepler; or once: " SETCAP),
		[RUN_BY_SYSTEMD] = "AmbientCapabilities=CAP_DAC_READ_SEARCH in the unit",
		[RUN_IN_CONTAINER] = ("CAP_DAC_READ_SEARCH for the container: capabilities: "
				      "{add: [DAC_READ_SEARCH]}"),
	}
};

enum program_runner privileges_runner(void)
{
	const char *pid = getenv("SYSTEMD_EXEC_PID"); /* inherited by children of a service, too */
	uint64_t number;

	if (getenv("KUBERNETES_SERVICE_HOST") || getenv("container") ||
	    access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
		return RUN_IN_CONTAINER;
	if (getenv("NOTIFY_SOCKET") ||
	    (pid && parse_u64(pid, strlen(pid), &number) == 0 && number == (uint64_t)getpid()))
		return RUN_BY_SYSTEMD;
	return RUN_BY_PERSON;
}

static struct privilege_gap gap_of(const struct gap *gap, const struct privilege_state *state)
{
	return (struct privilege_gap){ gap->missing, gap->consequence,
				       gap->remedies[state->runner] };
}

static bool lacks_read(const struct privilege_state *state, unsigned needs)
{
	bool energy = state->root || state->cap_dac_read_search || state->cap_dac_override;

	return ((needs & NEED_READ_ENERGY) && !energy) ||
	       ((needs & NEED_CGROUP_HANDLE) && !state->cap_dac_read_search);
}

size_t privileges_missing(const struct privilege_state *state, unsigned needs,
			  struct privilege_gap gaps[PRIVILEGE_GAPS_MAX])
{
	size_t n = 0;

	if (needs & NEED_BPF) {
		if (!state->cap_bpf && !state->cap_sys_admin)
			gaps[n++] = gap_of(&gap_bpf, state);
		if (!state->cap_perfmon && !state->cap_sys_admin)
			gaps[n++] = gap_of(&gap_perfmon, state);
		if (state->memlock_is_charged && !state->memlock_unlimited &&
		    !state->cap_sys_resource)
			gaps[n++] = gap_of(&gap_memlock, state);
	}
	if (lacks_read(state, needs))
		gaps[n++] = gap_of(&gap_read, state);
	return n;
}

size_t privileges_check(unsigned needs, struct privilege_gap gaps[PRIVILEGE_GAPS_MAX])
{
	struct privilege_state state;

	privileges_read(&state);
	return privileges_missing(&state, needs, gaps);
}

struct privilege_gap privileges_denied(enum need need)
{
	struct privilege_gap gaps[PRIVILEGE_GAPS_MAX];

	if (privileges_check(need, gaps) > 0)
		return gaps[0];
	return (struct privilege_gap){
		.remedy = "no privilege is missing: check the security modules, and whether Kepler "
			  "runs in a user namespace, where root is not the host's root"
	};
}

/*
 * Does this kernel refuse bpf() on existing objects to a process without CAP_BPF? Takes it away for
 * one call.
 */
static bool bpf_run_wants_capability(void)
{
	union bpf_attr attr = { .map_fd = UINT32_MAX };
	long r;

	if (capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_BPF) < 0 ||
	    capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_SYS_ADMIN) < 0 ||
	    capng_apply(CAPNG_SELECT_CAPS) < 0)
		return true;
	r = syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
	return r < 0 && errno == EPERM;
}

static int keep_capabilities(uint64_t bits)
{
	int r = 0;

	for (unsigned capability = 0; r == 0 && capability <= CAP_LAST_CAP; capability++) {
		if (bits & BIT(capability))
			r = capng_update(CAPNG_ADD,
					 (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED |
							CAPNG_BOUNDING_SET),
					 capability);
	}
	return r;
}

static bool holds_only(uint64_t bits)
{
	if (capng_get_caps_process() < 0)
		return false;
	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		if (!(bits & BIT(capability)) &&
		    capng_have_capability(CAPNG_PERMITTED, capability) == 1)
			return false;
	}
	return true;
}

/* Those of @wanted that this process holds. */
static uint64_t held_of(uint64_t wanted)
{
	uint64_t bits = 0;

	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		if ((wanted & BIT(capability)) && have(capability))
			bits |= BIT(capability);
	}
	return bits;
}

/* The capabilities that @needs keep, that this process holds and that this kernel requires. */
static uint64_t capabilities_to_keep(unsigned needs)
{
	uint64_t bits = held_of(needs_kept_capabilities(needs));

	if ((bits & BIT(CAP_BPF)) && !bpf_run_wants_capability())
		bits &= ~BIT(CAP_BPF);
	return bits;
}

static void forbid_inspection(void)
{
	const struct rlimit none = { 0, 0 };

	/*
	 * Neither can fail with these arguments, and a failure would be no reason not to measure.
	 */
	(void)setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) /* the leak checker traces its own process */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Those of @kept are held. */
static int drop_others(uint64_t kept, struct diag *diag)
{
	bool can_bound = have(CAP_SETPCAP); /* a service lacks it, and libcap-ng would complain */

	capng_clear(CAPNG_SELECT_ALL);
	if (keep_capabilities(kept) < 0)
		return diag_set(diag, -EINVAL, "libcap-ng refuses the capabilities to keep");
	if (can_bound)
		(void)capng_apply(CAPNG_SELECT_BOUNDS);
	/* A service that holds none may be denied the call. */
	if (capng_apply(CAPNG_SELECT_CAPS) < 0 && !holds_only(kept))
		return diag_set(diag, -EPERM, "capabilities cannot be dropped");
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* gone with inheritable */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return diag_set(diag, -errno, "no_new_privs cannot be set: %s",
				strerrordesc_np(errno));
	forbid_inspection();
	if (!holds_only(kept))
		return diag_set(diag, -EPERM, "more capabilities remain than are needed");
	return 0;
}

int privileges_drop(unsigned needs, struct diag *diag)
{
	(void)capng_get_caps_process(); /* on failure none is held and none kept */
	return drop_others(capabilities_to_keep(needs), diag);
}

int privileges_keep(uint64_t capabilities, struct diag *diag)
{
	(void)capng_get_caps_process();
	return drop_others(held_of(capabilities), diag);
}

struct bare_call {
	void (*call)(void *);
	void *userdata;
};

void privileges_drop_thread(void)
{
	capng_clear(CAPNG_SELECT_CAPS);
	(void)capng_apply(CAPNG_SELECT_CAPS); /* can only fail when there is nothing to drop */
}

static void *call_bare(void *userdata)
{
	const struct bare_call *bare = userdata;

	/* privileges_drop() may come later, and not for this thread. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	privileges_drop_thread();
	bare->call(bare->userdata);
	return NULL;
}

int privileges_call_without(void (*call)(void *), void *userdata)
{
	struct bare_call bare = { call, userdata };
	pthread_t thread;
	int r = pthread_create(&thread, NULL, call_bare, &bare);

	if (r != 0)
		return -r;
	(void)pthread_join(thread, NULL);
	return 0;
}
