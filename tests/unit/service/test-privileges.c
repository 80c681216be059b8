// SPDX-License-Identifier: Apache-2.0
/*
 * S2: what is missing is named with its remedy; what is not needed is given up, and the kernel says
 * so.
 */
#include "service/privileges.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/num.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

#define BIT(capability) (1ULL << (capability))
#define NOBODY          65534

static const struct privilege_state everything = { .cap_bpf = true,
						   .cap_perfmon = true,
						   .cap_dac_read_search = true };

static void expect_gap(struct privilege_state state, unsigned needs, const char *missing)
{
	struct privilege_gap gaps[PRIVILEGE_GAPS_MAX];

	assert_int_equal(privileges_missing(&state, needs, gaps), 1);
	assert_string_equal(gaps[0].missing, missing);
	assert_non_null(gaps[0].consequence);
	for (unsigned runner = 0; runner < PROGRAM_RUNNERS; runner++) {
		static const char *const ways[PROGRAM_RUNNERS][2] = {
			[RUN_BY_PERSON] = { "setcap", "ulimit -l" },
			[RUN_BY_SYSTEMD] = { "AmbientCapabilities=", "LimitMEMLOCK=" },
			[RUN_IN_CONTAINER] = { "add: [", "for the container" },
		};

		state.runner = runner;
		assert_int_equal(privileges_missing(&state, needs, gaps), 1);
		assert_non_null(
			strstr(gaps[0].remedy, ways[runner][strncmp(missing, "CAP_", 4) != 0]));
	}
}

static void the_environment_shows_what_started_it(void **state)
{
	char pid[24];

	(void)unsetenv("KUBERNETES_SERVICE_HOST");
	(void)unsetenv("NOTIFY_SOCKET");
	(void)setenv("container", "oci", 1);
	assert_int_equal(privileges_runner(), RUN_IN_CONTAINER);
	(void)unsetenv("container");
	if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
		return;                           /* these tests run in a container */
	(void)setenv("SYSTEMD_EXEC_PID", "1", 1); /* of a service that started a shell */
	assert_int_equal(privileges_runner(), RUN_BY_PERSON);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	(void)setenv("SYSTEMD_EXEC_PID", pid, 1);
	assert_int_equal(privileges_runner(), RUN_BY_SYSTEMD);
}

static void names_what_is_missing(void **state)
{
	const unsigned all = NEEDS_ALL;
	struct privilege_gap gaps[PRIVILEGE_GAPS_MAX];
	struct privilege_state some = everything;

	assert_int_equal(privileges_missing(&everything, all, gaps), 0);
	some.cap_bpf = false;
	expect_gap(some, all, "CAP_BPF");
	some = everything;
	some.cap_perfmon = false;
	expect_gap(some, all, "CAP_PERFMON");
	some.cap_sys_admin = true; /* holds both */
	assert_int_equal(privileges_missing(&some, all, gaps), 0);
	some = everything;
	some.cap_dac_read_search = false;
	expect_gap(some, all, "CAP_DAC_READ_SEARCH");
	some.root = true; /* owns energy_uj, and still cannot open by handle */
	expect_gap(some, all, "CAP_DAC_READ_SEARCH");
	assert_int_equal(privileges_missing(&some, NEED_READ_ENERGY, gaps), 0);
	some = everything;
	some.memlock_is_charged = true;
	expect_gap(some, all, "LimitMEMLOCK=infinity");
	some.memlock_unlimited = true;
	assert_int_equal(privileges_missing(&some, all, gaps), 0);
	some = (struct privilege_state){ .memlock_is_charged = true };
	assert_int_equal(privileges_missing(&some, all, gaps), PRIVILEGE_GAPS_MAX);
	assert_int_equal(privileges_missing(&some, 0, gaps), 0);
}

/* A line of /proc/self/status as the kernel sees this process: "CapEff:\t…". */
static uint64_t status_field(const char *field)
{
	char text[8192];
	const char *at;

	if (read_file_at(AT_FDCWD, "/proc/thread-self/status", text, sizeof(text)) < 0)
		return UINT64_MAX;
	at = strstr(text, field);
	return at ? strtoull(at + strlen(field), NULL, 16) : UINT64_MAX;
}

struct start {
	bool nobody;      /* else root */
	uint64_t granted; /* ambient capabilities, for the unprivileged user */
	unsigned needs;
	uint64_t left;
	bool bounded; /* the bounding set shrinks too */
};

static int become_nobody(uint64_t granted)
{
	capng_clear(CAPNG_SELECT_ALL);
	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		if (granted & BIT(capability))
			(void)capng_update(CAPNG_ADD,
					   (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED |
							  CAPNG_INHERITABLE),
					   capability);
	}
	if (capng_change_id(NOBODY, NOBODY, CAPNG_DROP_SUPP_GRP) != 0)
		return -1;
	for (unsigned capability = 0; capability <= CAP_LAST_CAP; capability++) {
		if (granted & BIT(capability))
			(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
	}
	return status_field("CapAmb:") == granted ? 0 : -1;
}

/* The number of the first check that fails, 0 when all hold. */
static int drop_and_look(const void *argument)
{
	const struct start *start = argument;
	struct rlimit core;
	struct diag diag;

	if (start->nobody && become_nobody(start->granted) < 0)
		return 50;
	if (privileges_drop(start->needs, &diag) < 0)
		return 51;
	if (status_field("CapEff:") != start->left || status_field("CapPrm:") != start->left)
		return 1;
	if (status_field("CapInh:") != 0 || status_field("CapAmb:") != 0)
		return 2;
	if (start->bounded && status_field("CapBnd:") != start->left)
		return 3;
	if (status_field("NoNewPrivs:") != 1)
		return 4;
	if (getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_cur || core.rlim_max)
		return 5;
#if !defined(__SANITIZE_ADDRESS__)
	if (prctl(PR_GET_DUMPABLE) != 0)
		return 6;
#endif
	return privileges_drop(start->needs, &diag) == 0 ? 0 : 7; /* twice does no harm */
}

static void drops_what_is_not_needed(void **state)
{
	const uint64_t service = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_DAC_READ_SEARCH);
	const struct start starts[] = {
		{ .needs = 0, .left = 0, .bounded = true },
		{ .needs = NEED_READ_ENERGY, .left = BIT(CAP_DAC_READ_SEARCH), .bounded = true },
		{ .nobody = true, .granted = service, .needs = 0, .left = 0 },
		{ .nobody = true,
		  .granted = service,
		  .needs = NEED_READ_ENERGY | NEED_CGROUP_HANDLE,
		  .left = BIT(CAP_DAC_READ_SEARCH) },
		{ .nobody = true,
		  .granted = BIT(CAP_BPF) | BIT(CAP_PERFMON),
		  .needs = NEED_READ_ENERGY | NEED_CGROUP_HANDLE,
		  .left = 0 },
		{ .nobody = true, .granted = 0, .needs = NEEDS_ALL, .left = 0 },
	};

	if (geteuid() != 0) {
		print_message("# not possible here: only root can give capabilities up so\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		int status = in_child(drop_and_look, &starts[i]);

		if (status != 0)
			fail_msg("start %zu: wait status %#x", i, (unsigned)status);
	}
}

/*
 * CAP_BPF stays exactly where the kernel wants it for bpf() on what exists, and BPF still answers.
 */
static int run_keeps_bpf_working(const void *argument)
{
	struct start start = { .nobody = true, .granted = BIT(CAP_BPF) | BIT(CAP_PERFMON) };
	union {
		uint64_t words[16];
		uint32_t map_fd;
	} attr = { .map_fd = UINT32_MAX };
	uint64_t left;
	struct diag diag;

	(void)argument;
	if (become_nobody(start.granted) < 0)
		return 50;
	if (privileges_drop(NEED_BPF, &diag) < 0)
		return 51;
	left = status_field("CapPrm:");
	if (left & ~BIT(CAP_BPF))
		return 1;
	/* BPF_MAP_LOOKUP_ELEM of no map: EBADF means that the right to ask was there */
	if (syscall(SYS_bpf, 1, &attr, sizeof(attr)) != -1 || errno == EPERM)
		return 2;
	return 0;
}

static void bpf_runs_on(void **state)
{
	if (geteuid() != 0) {
		print_message("# not possible here: only root can give capabilities up so\n");
		return;
	}
	assert_int_equal(in_child(run_keeps_bpf_working, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_is_missing),
		cmocka_unit_test(the_environment_shows_what_started_it),
		cmocka_unit_test(drops_what_is_not_needed),
		cmocka_unit_test(bpf_runs_on),
	};

	return unit_run(tests);
}
