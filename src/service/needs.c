// SPDX-License-Identifier: Apache-2.0
#include "service/needs.h"

#include <linux/capability.h>
#include <string.h>

#include "base/macro.h"

#define BIT(capability) (1ULL << (capability))

const struct need_row need_rows[NEED_COUNT] = {
	{ NEED_BPF, "bpf", "BPF programs, loaded at startup, read the run time of each thread",
	  BIT(CAP_BPF) | BIT(CAP_PERFMON), BIT(CAP_BPF), true, "bpf" },
	{ NEED_CGROUP_HANDLE, "cgroup-handle", "New cgroups are opened by id to read their paths",
	  BIT(CAP_DAC_READ_SEARCH), BIT(CAP_DAC_READ_SEARCH), false, "open_by_handle_at" },
	{ NEED_READ_ENERGY, "read-energy", "Energy counters are readable only by root",
	  BIT(CAP_DAC_READ_SEARCH), BIT(CAP_DAC_READ_SEARCH), false, NULL },
	{ NEED_READ_FILES, "read-files",
	  "State of container runtimes and a configuration file may be readable only by root",
	  BIT(CAP_DAC_READ_SEARCH), BIT(CAP_DAC_READ_SEARCH), false, NULL },
	{ NEED_CLIENTS, "clients",
	  "Threads query other programs for names, and the BMC for "
	  "power",
	  0, 0, false, NULL },
	{ NEED_GPU, "gpu", "The GPU vendor's library uses its driver's devices", 0, 0, false,
	  NULL },
	{ NEED_PERF_ENERGY, "perf-energy",
	  "Energy or hardware events are counted by perf, and opened again when a CPU comes back "
	  "online",
	  BIT(CAP_PERFMON), BIT(CAP_PERFMON), false, "perf_event_open" },
	{ NEED_MSR, "msr", "Energy registers are read through the devices of the msr driver",
	  BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH),
	  BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH), false, NULL },
	{ NEED_IPMI, "ipmi", "The BMC's power is read through the kernel's IPMI device",
	  BIT(CAP_DAC_READ_SEARCH), BIT(CAP_DAC_READ_SEARCH), false, NULL },
	{ NEED_GAUDI, "gaudi", "The Gaudi library uses its driver's devices", 0, 0, false, NULL },
	{ NEED_DEVICE_USERS, "device-users",
	  "A helper process reads /proc/PID/fdinfo of the processes that use a GPU",
	  BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH), 0, false, NULL },
	{ NEED_POD_RESOURCES, "pod-resources", "Only root can connect to the kubelet's socket", 0,
	  0, false, NULL, true },
	{ NEED_COUNTERS, "counters", "Hardware events are opened at startup", BIT(CAP_PERFMON), 0,
	  false, "perf_event_open" },
	{ NEED_GUESTS, "guests",
	  "Virtual machines receive their energy through unix sockets and directories", 0, 0, false,
	  NULL },
	{ NEED_VSOCK, "vsock", "Virtual machines and their host are connected by vsock", 0, 0,
	  false, NULL },
};

/* Those that a row may name, as units and containers spell them. */
static const struct {
	unsigned capability;
	const char *name;
} capability_names[] = { { CAP_BPF, "BPF" },
			 { CAP_PERFMON, "PERFMON" },
			 { CAP_DAC_READ_SEARCH, "DAC_READ_SEARCH" },
			 { CAP_SYS_RAWIO, "SYS_RAWIO" },
			 { CAP_SYS_PTRACE, "SYS_PTRACE" } };

uint64_t needs_capabilities(unsigned needs)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		if (needs & need_rows[i].need)
			bits |= need_rows[i].capabilities;
	}
	return bits;
}

uint64_t needs_kept_capabilities(unsigned needs)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		if (needs & need_rows[i].need)
			bits |= need_rows[i].kept_capabilities;
	}
	return bits;
}

static void add_capabilities(uint64_t bits, const char *prefix, const char *separator,
			     struct strbuf *out)
{
	bool is_first = true;

	for (size_t i = 0; i < ARRAY_SIZE(capability_names); i++) {
		if (!(bits & BIT(capability_names[i].capability)))
			continue;
		strbuf_addf(out, "%s%s%s", is_first ? "" : separator, prefix,
			    capability_names[i].name);
		is_first = false;
	}
}

/* An empty assignment clears what the unit has; a list without entries is the empty set. */
static void add_unit_capabilities(const char *key, uint64_t bits, struct strbuf *out)
{
	strbuf_addf(out, "%s=\n", key);
	if (!bits)
		return;
	strbuf_addf(out, "%s=", key);
	add_capabilities(bits, "CAP_", " ", out);
	strbuf_add_char(out, '\n');
}

/* The unit has a /dev of its own, without them. */
static void add_devices(const char *const *devices, struct strbuf *out)
{
	if (*devices)
		strbuf_add_str(out, "PrivateDevices=no\nDevicePolicy=closed\n");
	for (; *devices; devices++)
		strbuf_addf(out, "DeviceAllow=%s\n", *devices);
}

/* Several rows may have the same calls. */
static bool needs_calls(unsigned needs, const char *system_calls)
{
	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		if (needs & need_rows[i].need && need_rows[i].system_calls &&
		    strcmp(need_rows[i].system_calls, system_calls) == 0)
			return true;
	}
	return false;
}

static void add_system_calls(unsigned needs, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		const char *calls = need_rows[i].system_calls;
		bool is_first = true;

		for (size_t j = 0; calls && j < i; j++)
			is_first &= !need_rows[j].system_calls ||
				    strcmp(need_rows[j].system_calls, calls) != 0;
		if (calls && is_first)
			strbuf_addf(out, "SystemCallFilter=%s%s\n",
				    needs_calls(needs, calls) ? "" : "~", calls);
	}
}

/* The unit allows other families, but not that of virtual machines. */
static void add_families(unsigned needs, struct strbuf *out)
{
	if (needs & NEED_VSOCK)
		strbuf_add_str(out, "RestrictAddressFamilies=AF_VSOCK\n");
}

/* The unit allows the loopback alone, in both directions. */
static void add_addresses(unsigned needs, const char *reachable, struct strbuf *out)
{
	if (reachable)
		strbuf_addf(
			out,
			"# Other machines connect to web.listen-address=%s. To admit fewer, name "
			"the addresses of\n# the scrapers: IPAddressAllow=10.0.0.0/8\n"
			"IPAddressAllow=any\n",
			reachable);
	else if (needs & NEED_CLIENTS)
		strbuf_add_str(
			out, "# If Kepler queries servers on other machines, name their addresses "
			     "and the address of\n# the name server:\n"
			     "#IPAddressAllow=10.0.0.10 10.0.0.53\n");
}

void needs_write_unit(unsigned needs, const char *const *devices, const char *reachable,
		      struct strbuf *out)
{
	const uint64_t capabilities = needs_capabilities(needs);
	bool locks_memory = false, is_root = false;

	strbuf_add_str(out, "# What this configuration needs, as a drop-in of kepler.service.\n");
	for (size_t i = 0; i < ARRAY_SIZE(need_rows); i++) {
		if (!(needs & need_rows[i].need))
			continue;
		strbuf_addf(out, "# %s: %s.\n", need_rows[i].name, need_rows[i].purpose);
		locks_memory |= need_rows[i].locks_memory;
		is_root |= need_rows[i].is_root;
	}
	strbuf_add_str(out, "# In a container: securityContext.capabilities: {drop: [ALL], add: [");
	add_capabilities(capabilities, "", ", ", out);
	strbuf_add_str(out, "]}\n[Service]\n");
	if (is_root)
		strbuf_add_str(out, "DynamicUser=no\nUser=root\n");
	add_unit_capabilities("AmbientCapabilities", capabilities, out);
	add_unit_capabilities("CapabilityBoundingSet", capabilities, out);
	strbuf_addf(out, "LimitMEMLOCK=%s\n", locks_memory ? "infinity" : "8M");
	add_system_calls(needs, out);
	add_families(needs, out);
	add_devices(devices, out);
	add_addresses(needs, reachable, out);
}
