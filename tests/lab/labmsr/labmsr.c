// SPDX-License-Identifier: GPL-2.0-only
/*
 * labmsr - gives an emulated machine the energy counters (MSRs) of a real one, so that the
 * unmodified drivers intel_rapl_msr and msr read them.
 *
 * Both drivers read an MSR through rdmsrl_safe_on_cpu() or rdmsr_safe_on_cpu(); return probes on
 * these hand out simulated counters. The energy of a package follows its load by a known law
 *
 *     E = accel * (idle_mw * wall time + dyn_mw * busy time of the package's CPUs)
 *
 * and is shown without wrap in debugfs as labmsr/truth, one line "PACKAGE DOMAIN NANOJOULES" each.
 * With tick_us a counter changes once in this time, as those of processors do each millisecond, and
 * shows the energy at the begin of the tick plus an error: uniform from 0 to noise_uj, another one
 * at each tick. If filtered is set, bit 0 of MSR_MISC_PACKAGE_CTLS says that there is a filter.
 * Intel's numbers on a CPU that says GenuineIntel, AMD's on AuthenticAMD. Linux 6.1 (from 6.16 the
 * first function is called rdmsrq_safe_on_cpu()).
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/kernel_stat.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/tick.h>
#include <linux/topology.h>

enum { PKG, PP0, PP1, DRAM, PSYS, NDOMAINS };

static const char *const domain_names[NDOMAINS] = { "package", "core", "uncore", "dram", "psys" };

static unsigned int idle_mw[NDOMAINS] = { 20000, 5000, 500, 3000, 40000 };
module_param_array(idle_mw, uint, NULL, 0644);
MODULE_PARM_DESC(idle_mw, "power of each domain with no CPU busy: package,core,uncore,dram,psys");

static unsigned int dyn_mw[NDOMAINS] = { 15000, 12000, 0, 1500, 18000 };
module_param_array(dyn_mw, uint, NULL, 0644);
MODULE_PARM_DESC(dyn_mw, "power that each busy CPU adds");

static unsigned int mask = 0x1f;
module_param(mask, uint, 0644);
MODULE_PARM_DESC(mask, "bit i: domain i exists; counters of others read 0");

static unsigned int fail;
module_param(fail, uint, 0644);
MODULE_PARM_DESC(fail, "bit i: reading domain i fails with EIO");

static unsigned int accel = 1;
module_param(accel, uint, 0644);
MODULE_PARM_DESC(accel, "multiplies all power: wraps within seconds");

static unsigned int start_raw;
module_param(start_raw, uint, 0444);
MODULE_PARM_DESC(start_raw, "value of the 32-bit counters at load");

static unsigned int tick_us;
module_param(tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "time between two changes of a counter; 0: it changes all the time");

static unsigned int noise_uj[NDOMAINS];
module_param_array(noise_uj, uint, NULL, 0444);
MODULE_PARM_DESC(noise_uj, "with tick_us: largest error, less than the energy of a tick");

static unsigned int filtered;
module_param(filtered, uint, 0444);
MODULE_PARM_DESC(filtered, "1: the processor says that it filters its counters");

#define ENERGY_UNIT  14    /* counters step by 2^-14 J, as on most cores since 2013 */
#define DRAM_UNIT_NJ 15300 /* servers since Haswell: dram steps by 15.3 uJ */
#define MAX_PACKAGES 8

#define MSR_MISC_PACKAGE_CTLS 0xbc
#define MSR_INTEL_UNIT	     0x606
#define MSR_INTEL_PKG_LIMIT  0x610
#define MSR_INTEL_PKG_ENERGY 0x611
#define MSR_INTEL_PKG_INFO   0x614
#define MSR_INTEL_DRAM	     0x619
#define MSR_INTEL_PP0	     0x639
#define MSR_INTEL_PP1	     0x641
#define MSR_INTEL_PSYS	     0x64d
#define MSR_AMD_UNIT	     0xc0010299
#define MSR_AMD_CORE	     0xc001029a
#define MSR_AMD_PKG	     0xc001029b

/* Busy time is what is left of wall time without idle time; an offline CPU is neither. */
struct cpu_state {
	bool seen;
	u64 time_ns, idle_ns;
};

static struct cpu_state cpus[NR_CPUS];
static u64 wall_ns[MAX_PACKAGES];
static u64 energy_nj[MAX_PACKAGES][NDOMAINS];
static u64 shown_nj[MAX_PACKAGES][NDOMAINS]; /* with tick_us */
static DEFINE_SPINLOCK(lock);

static int package_of(int cpu)
{
	return topology_physical_package_id(cpu) & (MAX_PACKAGES - 1);
}

static u64 idle_ns_of(int cpu)
{
	u64 us = get_cpu_idle_time_us(cpu, NULL);

	return us == -1ULL ? kcpustat_cpu(cpu).cpustat[CPUTIME_IDLE] : us * NSEC_PER_USEC;
}

static u64 busy_since_last(int package, u64 now)
{
	u64 busy = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct cpu_state *state = &cpus[cpu];
		u64 idle, passed;

		if (!cpu_online(cpu)) {
			state->seen = false;
			continue;
		}
		if (package_of(cpu) != package)
			continue;
		idle = idle_ns_of(cpu);
		if (state->seen) {
			passed = now - state->time_ns;
			busy += passed - min(passed, idle - min(idle, state->idle_ns));
		}
		*state = (struct cpu_state){ .seen = true,
					     .time_ns = now,
					     .idle_ns = max(idle, state->idle_ns) };
	}
	return busy;
}

/*
 * Brings a package's energy up to now. mW * ns = pJ. Where a tick began meanwhile, its energy lies
 * between that before and now.
 */
static void advance(int package)
{
	u64 now = ktime_get_ns();
	u64 wall = wall_ns[package] ? now - wall_ns[package] : 0;
	u64 busy = busy_since_last(package, now);
	u64 since_tick = 0;
	int domain;

	if (tick_us)
		div64_u64_rem(now, tick_us * NSEC_PER_USEC, &since_tick);
	wall_ns[package] = now;
	for (domain = 0; domain < NDOMAINS; domain++) {
		u64 added = accel * (div_u64(wall * idle_mw[domain], 1000) +
				     div_u64(busy * dyn_mw[domain], 1000));

		if (tick_us && since_tick < wall)
			shown_nj[package][domain] =
				energy_nj[package][domain] +
				mul_u64_u64_div_u64(added, wall - since_tick, wall) +
				((u64)get_random_u32() * noise_uj[domain] * 1000 >> 32);
		energy_nj[package][domain] += added;
	}
}

static u32 raw_counter(int package, int domain)
{
	u64 nj = tick_us ? shown_nj[package][domain] : energy_nj[package][domain], joules;
	u32 rest_nj;

	if (domain == DRAM)
		return start_raw + (u32)div_u64(nj, DRAM_UNIT_NJ);
	joules = div_u64_rem(nj, NSEC_PER_SEC, &rest_nj);
	return start_raw + (u32)((joules << ENERGY_UNIT) +
				 div_u64((u64)rest_nj << ENERGY_UNIT, NSEC_PER_SEC));
}

static int domain_of_msr(u32 msr, bool amd)
{
	switch (msr) {
	case MSR_INTEL_PKG_ENERGY:
		return amd ? -1 : PKG;
	case MSR_INTEL_PP0:
		return amd ? -1 : PP0;
	case MSR_INTEL_PP1:
		return amd ? -1 : PP1;
	case MSR_INTEL_DRAM:
		return amd ? -1 : DRAM;
	case MSR_INTEL_PSYS:
		return amd ? -1 : PSYS;
	case MSR_AMD_CORE:
		return amd ? PP0 : -1;
	case MSR_AMD_PKG:
		return amd ? PKG : -1;
	default:
		return -1;
	}
}

/* 1: not ours; 0: *ret is the value; -EIO: the read fails. */
static int simulate(int cpu, u32 msr, u64 *ret)
{
	bool amd = boot_cpu_data.x86_vendor == X86_VENDOR_AMD;
	int domain = domain_of_msr(msr, amd), package = package_of(cpu);
	unsigned long flags;

	if (!cpu_online(cpu))
		return 1; /* the driver's own answer: ENXIO */
	if (msr == (amd ? MSR_AMD_UNIT : MSR_INTEL_UNIT)) {
		*ret = 0x000a0003 | ENERGY_UNIT << 8;
		return 0;
	}
	if (!amd && (msr == MSR_INTEL_PKG_LIMIT || msr == MSR_INTEL_PKG_INFO)) {
		*ret = msr == MSR_INTEL_PKG_LIMIT ? 0x00dd8000dd8000ULL : 0x640; /* 200 W */
		return 0;
	}
	if (filtered && !amd && msr == MSR_MISC_PACKAGE_CTLS) {
		*ret = 1;
		return 0;
	}
	if (domain < 0)
		return 1;
	if (fail >> domain & 1)
		return -EIO;
	if (!(mask >> domain & 1)) {
		*ret = 0;
		return 0;
	}
	spin_lock_irqsave(&lock, flags);
	advance(package);
	*ret = raw_counter(package, domain);
	spin_unlock_irqrestore(&lock, flags);
	return 0;
}

/*
 * Arguments of the probed call: int f(unsigned int cpu, u32 msr, u64 *q) or (…, u32 *low, u32
 * *high).
 */
struct call {
	u32 cpu, msr;
	unsigned long third, fourth;
};

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	*(struct call *)instance->data = (struct call){ regs->di, regs->si, regs->dx, regs->cx };
	return 0;
}

static int on_return_q(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct call *call = (struct call *)instance->data;
	u64 value;
	int r = simulate(call->cpu, call->msr, &value);

	if (r == 1)
		return 0;
	if (r == 0)
		*(u64 *)call->third = value;
	regs_set_return_value(regs, r);
	return 0;
}

static int on_return_halves(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct call *call = (struct call *)instance->data;
	u64 value;
	int r = simulate(call->cpu, call->msr, &value);

	if (r == 1)
		return 0;
	if (r == 0) {
		*(u32 *)call->third = (u32)value;
		*(u32 *)call->fourth = (u32)(value >> 32);
	}
	regs_set_return_value(regs, r);
	return 0;
}

static struct kretprobe probe_q = {
	.kp.symbol_name = "rdmsrl_safe_on_cpu",
	.entry_handler = on_entry,
	.handler = on_return_q,
	.data_size = sizeof(struct call),
	.maxactive = 64,
};
static struct kretprobe probe_halves = {
	.kp.symbol_name = "rdmsr_safe_on_cpu",
	.entry_handler = on_entry,
	.handler = on_return_halves,
	.data_size = sizeof(struct call),
	.maxactive = 64,
};
static struct kretprobe *const probes[] = { &probe_q, &probe_halves };

static int truth_show(struct seq_file *file, void *unused)
{
	unsigned long flags;
	int package, domain;

	for (package = 0; package < MAX_PACKAGES; package++) {
		if (!wall_ns[package])
			continue;
		spin_lock_irqsave(&lock, flags);
		advance(package);
		for (domain = 0; domain < NDOMAINS; domain++)
			seq_printf(file, "%d %s %llu\n", package, domain_names[domain],
				   energy_nj[package][domain]);
		spin_unlock_irqrestore(&lock, flags);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(truth);

static struct dentry *folder;

static int __init labmsr_init(void)
{
	int r = register_kretprobes((struct kretprobe **)probes, ARRAY_SIZE(probes));

	if (r)
		return r;
	folder = debugfs_create_dir("labmsr", NULL);
	debugfs_create_file("truth", 0444, folder, NULL, &truth_fops);
	return 0;
}

static void __exit labmsr_exit(void)
{
	debugfs_remove_recursive(folder);
	unregister_kretprobes((struct kretprobe **)probes, ARRAY_SIZE(probes));
}

module_init(labmsr_init);
module_exit(labmsr_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("simulated RAPL counters for tests");
