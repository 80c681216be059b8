// SPDX-License-Identifier: Apache-2.0
/* The kept capabilities are a part of those asked for at the start, and the drop-in lists both. */
#include "service/needs.h"

#include <linux/capability.h>

#include "tests/unit/unit.h"

#define BIT(capability) (1ULL << (capability))

static void rows_are_in_order(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		const struct need_row *row = &need_rows[i];

		assert_int_equal(row->need, 1U << i);
		assert_int_equal(row->kept_capabilities & ~row->capabilities, 0);
	}
}

static void capabilities_follow_the_needs(void **state)
{
	static const struct {
		unsigned needs;
		uint64_t start, kept;
	} table[] = {
		{ 0, 0, 0 },
		{ NEED_CLIENTS, 0, 0 },
		{ NEED_READ_ENERGY, BIT(CAP_DAC_READ_SEARCH), BIT(CAP_DAC_READ_SEARCH) },
		/* CAP_PERFMON is for the load alone. */
		{ NEED_BPF, BIT(CAP_BPF) | BIT(CAP_PERFMON), BIT(CAP_BPF) },
		{ NEED_MSR, BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH),
		  BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH) },
		/* The helper's, which is a process of its own. */
		{ NEED_DEVICE_USERS, BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH), 0 },
		{ NEEDS_ALL & ~(unsigned)(NEED_MSR | NEED_DEVICE_USERS),
		  BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_DAC_READ_SEARCH),
		  BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_DAC_READ_SEARCH) },
		{ NEED_PERF_ENERGY, BIT(CAP_PERFMON), BIT(CAP_PERFMON) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(needs_capabilities(table[i].needs), table[i].start);
		assert_int_equal(needs_kept_capabilities(table[i].needs), table[i].kept);
	}
}

static void expect_unit(unsigned needs, const char *const *devices, const char *reachable,
			const char *lines)
{
	struct strbuf out = STRBUF_INIT;
	const char *service;

	needs_write_unit(needs, devices, reachable, &out);
	assert_int_equal(strbuf_error(&out), 0);
	service = strstr(out.data, "[Service]\n");
	assert_non_null(service);
	assert_string_equal(service, lines);
	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++)
		assert_int_equal(strstr(out.data, need_rows[i].purpose) != NULL,
				 (needs & need_rows[i].need) != 0);
	strbuf_release(&out);
}

static void the_drop_in_grants_them_and_no_more(void **state)
{
	static const char *const devices[] = { "char-nvidia* rw", "char-ipmidev r", NULL };

	expect_unit(NEEDS_ALL, devices, ":28282",
		    "[Service]\n"
		    "DynamicUser=no\n"
		    "User=root\n"
		    "AmbientCapabilities=\n"
		    "AmbientCapabilities=CAP_BPF CAP_PERFMON CAP_DAC_READ_SEARCH "
		    "CAP_SYS_RAWIO CAP_SYS_PTRACE\n"
		    "CapabilityBoundingSet=\n"
		    "CapabilityBoundingSet=CAP_BPF CAP_PERFMON CAP_DAC_READ_SEARCH "
		    "CAP_SYS_RAWIO CAP_SYS_PTRACE\n"
		    "LimitMEMLOCK=infinity\n"
		    "SystemCallFilter=bpf\n"
		    "SystemCallFilter=open_by_handle_at\n"
		    "SystemCallFilter=perf_event_open\n"
		    "RestrictAddressFamilies=AF_VSOCK\n"
		    "PrivateDevices=no\n"
		    "DevicePolicy=closed\n"
		    "DeviceAllow=char-nvidia* rw\n"
		    "DeviceAllow=char-ipmidev r\n"
		    "# Other machines connect to web.listen-address=:28282. To admit "
		    "fewer, name the addresses of\n# the scrapers: "
		    "IPAddressAllow=10.0.0.0/8\n"
		    "IPAddressAllow=any\n");
	expect_unit(NEED_READ_ENERGY, devices + 2, NULL,
		    "[Service]\n"
		    "AmbientCapabilities=\n"
		    "AmbientCapabilities=CAP_DAC_READ_SEARCH\n"
		    "CapabilityBoundingSet=\n"
		    "CapabilityBoundingSet=CAP_DAC_READ_SEARCH\n"
		    "LimitMEMLOCK=8M\n"
		    "SystemCallFilter=~bpf\n"
		    "SystemCallFilter=~open_by_handle_at\n"
		    "SystemCallFilter=~perf_event_open\n");
	expect_unit(NEED_VSOCK, devices + 2, NULL,
		    "[Service]\n"
		    "AmbientCapabilities=\n"
		    "CapabilityBoundingSet=\n"
		    "LimitMEMLOCK=8M\n"
		    "SystemCallFilter=~bpf\n"
		    "SystemCallFilter=~open_by_handle_at\n"
		    "SystemCallFilter=~perf_event_open\n"
		    "RestrictAddressFamilies=AF_VSOCK\n");
	expect_unit(NEED_GUESTS, devices + 2, NULL,
		    "[Service]\n"
		    "AmbientCapabilities=\n"
		    "CapabilityBoundingSet=\n"
		    "LimitMEMLOCK=8M\n"
		    "SystemCallFilter=~bpf\n"
		    "SystemCallFilter=~open_by_handle_at\n"
		    "SystemCallFilter=~perf_event_open\n");
	expect_unit(0, devices + 2, NULL,
		    "[Service]\n"
		    "AmbientCapabilities=\n"
		    "CapabilityBoundingSet=\n"
		    "LimitMEMLOCK=8M\n"
		    "SystemCallFilter=~bpf\n"
		    "SystemCallFilter=~open_by_handle_at\n"
		    "SystemCallFilter=~perf_event_open\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_order),
		cmocka_unit_test(capabilities_follow_the_needs),
		cmocka_unit_test(the_drop_in_grants_them_and_no_more),
	};

	return unit_run(tests);
}
