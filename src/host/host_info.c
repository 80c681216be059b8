// SPDX-License-Identifier: Apache-2.0
/*
 * Gathers the facts of a machine from the kernel's files. Each fact has its own fallback (topology:
 * sysfs, else cpuinfo; nominal frequency: model name, else firmware, else the driver's highest),
 * because a configured tree may contain only sensors. Missing facts stay unknown; only
 * a /proc that cannot be read at all is an error.
 */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/confidential.h"
#include "host/cpuinfo.h"
#include "host/hypervisor.h"
#include "host/nominal_frequency.h"
#include "host/topology.h"

#define CPUINFO_MAX   (32U << 20) /* 8,192 CPUs of 4 KiB each */
#define KIB_PER_GIB   (1024.0 * 1024.0)
#define PATH_SIZE_MAX 4096

static void read_node_name(struct host_info *info)
{
	const char *name = getenv("KEPLER_NODE_NAME");

	if (!name || !*name)
		name = getenv("NODE_NAME");
	if (name && *name)
		(void)snprintf(info->node_name, sizeof(info->node_name), "%s", name);
	else if (gethostname(info->node_name, sizeof(info->node_name) - 1) < 0)
		info->node_name[0] = '\0';
}

static void read_kernel(struct host_info *info)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return;
	(void)snprintf(info->kernel, sizeof(info->kernel), "%.63s", uts.release);
	(void)snprintf(info->machine, sizeof(info->machine), "%.15s", uts.machine);
}

static int read_cpuinfo_text(const char *procfs, char **ret)
{
	char path[PATH_SIZE_MAX];
	int r = path_join(path, sizeof(path), procfs, "cpuinfo");

	return r < 0 ? r : read_file_alloc(path, CPUINFO_MAX, ret, NULL);
}

static int read_cpuinfo(const char *procfs, struct cpuinfo *ret)
{
	CLEANUP_FREE char *text = NULL;
	int r = read_cpuinfo_text(procfs, &text);

	return r < 0 ? r : cpuinfo_parse(text, ret);
}

int host_cpus_read(const char *procfs, struct cpuinfo_cpu **ret, size_t *ret_count)
{
	CLEANUP_FREE char *text = NULL;
	int r = read_cpuinfo_text(procfs, &text);

	return r < 0 ? r : cpuinfo_list(text, ret, ret_count);
}

static double read_memory_gib(const char *procfs)
{
	static const char key[] = "MemTotal:";
	char path[PATH_SIZE_MAX], text[8192];
	const char *at;
	uint64_t kib;

	if (path_join(path, sizeof(path), procfs, "meminfo") < 0 ||
	    read_file_nowait_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, key);
	if (!at)
		return 0;
	at += sizeof(key) - 1;
	at += strspn(at, " \t");
	return parse_u64(at, strspn(at, "0123456789"), &kib) == 0 ? (double)kib / KIB_PER_GIB : 0;
}

/* A number from SYSFS/devices/system/cpu/cpu0/NAME, or 0. */
static double read_cpu0(const char *sysfs, const char *name)
{
	char dir[PATH_SIZE_MAX], path[PATH_SIZE_MAX], text[32];
	uint64_t value;
	ssize_t len;

	if (path_join(dir, sizeof(dir), sysfs, "devices/system/cpu/cpu0") < 0 ||
	    path_join(path, sizeof(path), dir, name) < 0)
		return 0;
	len = read_file_nowait_at(AT_FDCWD, path, text, sizeof(text));
	return len > 0 && parse_u64(text, (size_t)len, &value) == 0 ? (double)value : 0;
}

/* Drivers whose highest frequency is a boost. */
static bool shows_boost(const char *sysfs)
{
	static const char name[] = "devices/system/cpu/cpu0/cpufreq/scaling_driver";
	char path[PATH_SIZE_MAX], text[64];

	return path_join(path, sizeof(path), sysfs, name) < 0 ||
	       read_file_nowait_at(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
	       strstr(text, "pstate");
}

/* Never what a CPU does at the moment ("cpu MHz"): a start at a boost would look faster. */
static double nominal_ghz(const char *sysfs, const struct cpuinfo *cpu)
{
	double ghz = nominal_frequency_ghz(cpu->model), mhz;

	if (ghz > 0)
		return ghz;
	mhz = read_cpu0(sysfs, "cpufreq/base_frequency") / 1000;
	if (!(mhz > 0))
		mhz = read_cpu0(sysfs, "acpi_cppc/nominal_freq");
	if (!(mhz > 0) && !shows_boost(sysfs))
		mhz = read_cpu0(sysfs, "cpufreq/cpuinfo_max_freq") / 1000;
	return mhz / 1000;
}

static void set_cpu(struct host_info *info, const struct cpuinfo *cpu)
{
	const char *architecture = "unknown";

	memcpy(info->cpu_vendor, cpu->vendor, sizeof(info->cpu_vendor));
	info->cpu_family = cpu->family;
	info->cpu_model_number = cpu->model_number;
	memcpy(info->cpu_model, cpu->model, sizeof(info->cpu_model));
	(void)host_microarchitecture(cpu->vendor, cpu->family, cpu->model_number, cpu->stepping,
				     &architecture, &info->cpu_year);
	(void)snprintf(info->cpu_architecture, sizeof(info->cpu_architecture), "%s", architecture);
}

static void set_topology(struct host_info *info, const struct topology *topology,
			 const struct cpuinfo *cpu)
{
	info->cpus = topology->cpus ? topology->cpus : cpu->cpus;
	info->cores = topology->cores ? topology->cores : cpu->cores;
	info->sockets = topology->sockets ? topology->sockets : cpu->sockets;
}

static void set_hypervisor(struct host_info *info, const char *procfs, const char *sysfs,
			   const struct cpuinfo *cpu)
{
	struct hypervisor_clues clues;
	const char *name;

	hypervisor_clues_read(procfs, sysfs, &clues);
	clues.cpu_flag = cpu->hypervisor;
	clues.cpu_flag_exists = strcmp(info->machine, "x86_64") == 0;
	memcpy(info->dmi_vendor, clues.sys_vendor, sizeof(info->dmi_vendor));
	memcpy(info->dmi_product, clues.product, sizeof(info->dmi_product));
	name = hypervisor_name(&clues);
	info->is_vm = name != NULL;
	info->registers_are_virtual = hypervisor_makes_registers(&clues);
	(void)snprintf(info->confidential, sizeof(info->confidential), "%s",
		       confidential_kind(cpu->tdx_guest, sysfs));
	if (name)
		(void)snprintf(info->hypervisor, sizeof(info->hypervisor), "%s", name);
}

int host_info_read(const char *procfs, const char *sysfs, struct host_info *ret)
{
	struct host_info info = { 0 };
	struct topology topology;
	struct cpuinfo cpu = { 0 };
	int r;

	if (access(procfs, R_OK | X_OK) < 0)
		return -errno;
	r = read_cpuinfo(procfs, &cpu);
	if (r == -ENOMEM)
		return r; /* any other failure leaves the CPU unknown */
	r = topology_read(sysfs, &topology);
	if (r < 0)
		return r;
	read_node_name(&info);
	read_kernel(&info);
	set_cpu(&info, &cpu);
	set_topology(&info, &topology, &cpu);
	info.frequency_ghz = nominal_ghz(sysfs, &cpu);
	info.memory_gib = read_memory_gib(procfs);
	set_hypervisor(&info, procfs, sysfs, &cpu);
	*ret = info;
	return 0;
}
