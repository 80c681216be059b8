/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many joules did each part of the node use? Each source implements one interface in one file.
 *
 * A meter offers zones (energy/zone.h). Sources return raw readings; meter_table turns them into
 * spans of energy (energy/span.h), corrected for wraps, and keeps the zone's index for as long as
 * the program runs: a zone that vanishes and returns is the same by kind and instance, not by path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/span.h"
#include "meter/device_uses.h"

struct diag;

enum sample_kind {
	SAMPLE_COUNTER, /* µJ; starts again at 0 behind range_uj */
	SAMPLE_TOTAL,   /* µJ; never starts again: one that falls was reset */
	SAMPLE_POWER,   /* µW; the mean from from_ns to to_ns, or at to_ns where from_ns is 0 */
};

/* A device, or a part of it that software is given by a name of its own. */
struct device_part {
	uint32_t device; /* its number in struct domain */
	uint32_t held;   /* of DEVICE_WHOLE */
};

/* One value as the source has it. */
struct raw_reading {
	uint64_t value;
	uint64_t range_uj;   /* of a counter: its largest value */
	uint32_t generation; /* changes whenever the zone's counter was opened anew */
	enum sample_kind kind;
	enum zone_caveat caveat;
	/* MONOTONIC, where the source knows of when it is; to_ns 0: of when it is read. */
	uint64_t from_ns, to_ns;
	/*
	 * Of a counter that is fed from a smaller one when it is read: the energy in which that one
	 * starts again, so that it must be read before. 0: there is none.
	 */
	uint64_t unread_max_uj;
};

/*
 * Of something that was found and is no zone: what it is, and the option that would make it one.
 * Or of a zone: what people should know of its values.
 */
struct meter_remark {
	char what[256];
	char option[224]; /* "" where none would */
	bool is_failure;  /* something is there that should be read, and cannot be */
	bool is_caveat;   /* a value is counted in spite of this: the log reports it as well */
};

/*
 * A source of zones. open() does no I/O and cannot hang; rescan() and read_raw() may, so they run
 * on a thread of their own. With a period_ns of 0 the zones are read in each pass, back to back
 * with the processes, and several reads may be under way at once (one of them stuck): a reader's.
 * Else they are read once in a period on a thread of the source's own, which nothing waits for: a
 * poller's, and that closes it, which may hang as well. The rest is called from any thread and only
 * copies.
 */
struct device_files; /* meter/drm/device_files.h */
struct ipmi_system;  /* bmc/ipmi_device.h */
struct meter;
struct meter_options;
struct meter_ops {
	const char *name;   /* "rapl-sysfs" */
	uint64_t period_ns; /* power (SAMPLE_POWER) needs one: it is no energy without */
	uint64_t close_ns;  /* how long the end waits for close(); less than the deadline: that */
	/* NULL: period_ns. Else the period of this one, which is fixed. */
	uint64_t (*own_period_ns)(const struct meter *meter);
	/*
	 * Of a source that nothing names: whether it is opened. False: the machine cannot have it,
	 * or it is read only by request. NULL: always.
	 */
	bool (*is_wanted)(const struct meter_options *options);
	/* 0 or -ENOMEM; *ret is given, released by close(). The first rescan() finds zones. */
	int (*open)(const struct meter_options *options, struct meter **ret);
	size_t (*zone_count)(struct meter *meter);
	/* The zone, fixed for the meter's life. */
	const struct zone *(*zone_at)(struct meter *meter, size_t index);
	/* Zones found but not taken: duplicates, unknown names, parts, beyond METER_ZONES_MAX. */
	size_t (*ignored)(struct meter *meter);
	/* Device files that are open and beyond the limits; NULL: the source looks at none. */
	uint64_t (*unread_device_files)(struct meter *meter);
	/*
	 * For people: what else was found, from index 0 on; false behind the last one. NULL: the
	 * source has none.
	 */
	bool (*remark)(struct meter *meter, size_t index, struct meter_remark *ret);
	/* 0 or -errno; -ENODEV and -ENOENT: the zone is gone; -EAGAIN: nothing new is there. */
	int (*read_raw)(struct meter *meter, size_t index, struct raw_reading *ret);
	/*
	 * Looks (again) for zones: new ones are added, returned ones opened anew. 0 or -errno.
	 * Indexes stay.
	 */
	int (*rescan)(struct meter *meter);
	/*
	 * NULL: no zone is a device's. What used the device of the zone, as the last read_raw() of
	 * it has found, whether that failed or not; on its thread, and valid until the next.
	 */
	const struct device_use *(*uses)(struct meter *meter, size_t index, size_t *ret_count);
	/*
	 * NULL: no device has parts. The part of a device that has that UUID ("MIG-…"), as of the
	 * last reading; false: there is none.
	 */
	bool (*find_part)(struct meter *meter, const char *uuid, struct device_part *ret);
	/* NULL: nothing. From any thread: what is under way ends soon, and close() comes. */
	void (*stop)(struct meter *meter);
	void (*close)(struct meter *meter);
};

extern const struct meter_ops rapl_sysfs_meter;
extern const struct meter_ops rapl_perf_meter;
extern const struct meter_ops rapl_msr_meter;
extern const struct meter_ops cray_pm_meter;
extern const struct meter_ops hwmon_meter;
extern const struct meter_ops external_meter;
extern const struct meter_ops nvml_meter;
extern const struct meter_ops drm_meter;
extern const struct meter_ops hlml_meter;
/* Whether the source "drm" has a board now, whose users can be read; not so graphics in the CPU. */
bool drm_has_board(const char *sysfs);
extern const struct meter_ops redfish_meter;
extern const struct meter_ops ipmi_meter;
extern const struct meter_ops hmc_meter;

/* All sources that there are, in the order in which their zones are numbered; NULL ends it. */
#define METERS_MAX 16
extern const struct meter_ops *const meter_sources[];
/* A list of sources: their names, separated by commas, and for all that are wanted this. */
#define METERS_AUTO "auto"
/* 0, or -EINVAL with the names that there are. */
int meter_check_sources(const char *list, struct diag *diag);
/* Whether "auto" is among @options, so that no source that the machine has is left out. */
bool meter_takes_any(const struct meter_options *options);
/* Whether @ops is opened: @options name it, or are "auto" and it is wanted. */
bool meter_is_chosen(const struct meter_ops *ops, const struct meter_options *options);

/*
 * The table of all zones that the program reads: those of all sources.
 *
 * meter_table_read() reads them all back to back, waits at most @deadline_ns in all, and never
 * longer: a read that has not come back is left to finish alone on its thread (at most one a zone),
 * and the zone is ZONE_STALLED until it does. A zone whose read was not started in time is
 * ZONE_MISSED. From a source with a period it takes the latest results, and waits for nothing: a
 * zone has a span in the pass after its poll, and is ZONE_STALLED while a poll takes more than
 * three periods.
 */
struct meter_table;

/*
 * perf_event_open(2), on @cpu and for all processes: a descriptor, or -errno. @group_fd: of the
 * group's leader, or -1.
 */
struct perf_event_attr;
typedef int meter_perf_open_fn(const struct perf_event_attr *attr, int cpu, int group_fd);

/* How a Redfish service is told who asks: by a session where it has sessions, or each time. */
enum redfish_login { REDFISH_LOGIN_SESSION, REDFISH_LOGIN_BASIC };

#define METER_MSR_DEVICES     "/dev/cpu"
#define METER_IPMI_DEVICE     "/dev/ipmi0"
#define METER_HWMON_RULES_MAX 32
#define METER_EXTERNAL_MAX    8
struct meter_options {
	const char *sysfs;         /* root of sensors, "/sys" */
	uint64_t read_deadline_ns; /* per pass over all zones */
	/* A delta that implies more power per zone is refused and counted (I3); 0: by its kind. */
	uint64_t max_power_uw;
	/*
	 * "core" is one physical core of its package, not all: so on AMD and Hygon, whose MSR
	 * C001_029A counts a core (Linux: Documentation/hwmon/amd_energy.rst) and is read on one
	 * CPU of the package (drivers/powercap/intel_rapl_msr.c). Such zones are left out.
	 */
	bool core_is_one_core;
	char *hwmon_rules[METER_HWMON_RULES_MAX]; /* meter/hwmon/hwmon_rule.h; borrowed */
	size_t hwmon_rule_count;
	bool wants_holders;                /* also: which processes hold a device, busy or not */
	struct device_files *device_files; /* NULL: what uses DRM's boards is not known; borrowed */
	/* Paths, or names, loaded where the driver is; "": none; borrowed. */
	char *nvml_library, *hlml_library;
	char *external[METER_EXTERNAL_MAX]; /* files, meter/external/external_text.h; borrowed */
	size_t external_count;
	/* Borrowed; "" or NULL: none. The file's lines are those of bmc/service_target.h. */
	char *redfish_url, *redfish_credentials, *redfish_ca_file, *redfish_system;
	int redfish_login; /* enum redfish_login */
	bool redfish_insecure;
	/* 0: 10 s; what the BMC says of its averaging; no delay */
	uint64_t redfish_period_ns, redfish_window_ns, redfish_delay_ns;
	/* Of an IBM Z's console, likewise: the file's lines are the same. Period 0: 15 s. */
	char *hmc_url, *hmc_credentials, *hmc_ca_file, *hmc_cpc, *hmc_partition;
	bool hmc_insecure;
	uint64_t hmc_period_ns;
	char *ipmi_device;                     /* "/dev/ipmi0"; NULL or "": none; borrowed */
	uint64_t ipmi_period_ns;               /* 0: 5 s */
	const struct ipmi_system *ipmi_system; /* NULL: the real one; a test has its own */
	const char *node_name;                 /* this machine's, in files of several; borrowed */
	const char *procfs;                    /* "/proc"; borrowed; NULL: none */
	char *sources; /* "auto,rapl-msr": see meter_is_chosen(); NULL: auto; borrowed */
	meter_perf_open_fn *open_perf_event; /* NULL: the kernel's; a test has its own */
	char *msr_devices; /* the folder of N/msr; NULL: METER_MSR_DEVICES; borrowed */
	bool msr_cores;    /* also: registers that count a single core (AMD) */
	/* As CPUID has them: "GenuineIntel", see meter/rapl/rapl_units.h. NULL and 0: unknown. */
	const char *cpu_vendor; /* borrowed */
	unsigned cpu_family, cpu_model;
};

/*
 * 0 or -errno. A machine without a meter is no error: the table has no zones then, but goes on
 * looking for some now and then. Waits for the first searches of all sources at most two seconds in
 * all, or the deadline if that is longer.
 */
int meter_table_open(const struct meter_options *options, struct meter_table **ret);
/* As meter_table_open, over given sources (NULL ends them), or one. */
int meter_table_open_sources(const struct meter_ops *const *sources,
			     const struct meter_options *options, struct meter_table **ret);
int meter_table_open_source(const struct meter_ops *ops, const struct meter_options *options,
			    struct meter_table **ret);
/*
 * Waits at most the deadline; a thread that is still stuck in a read then frees what it holds when
 * the read returns.
 */
void meter_table_close(struct meter_table *table);
/*
 * The next calls of meter_table_read() will be at @at_ns (MONOTONIC) and every @period_ns from then
 * on. To be called after each of them. Where all files are read by one thread, and nothing is
 * looked for, that begins by itself: the descriptor, which is the table's, is then readable once
 * meter_table_read() has to wait for nothing, and what was begun more than @fresh_ns before that
 * call is read anew. Else -1.
 */
int meter_table_expect(struct meter_table *table, uint64_t at_ns, uint64_t period_ns,
		       uint64_t fresh_ns);
/* False while the first search of some source is still under way: a driver hangs, or is slow. */
bool meter_table_has_searched(const struct meter_table *table);
/* Zones known; grows when new ones appear (in meter_table_read), never shrinks. */
size_t meter_table_count(const struct meter_table *table);
const struct zone *meter_table_zone(const struct meter_table *table, size_t index);
/*
 * The results of one pass over the zones; valid until the next one. A zone has at most one span,
 * and none where nothing new was read: energy that flows meanwhile is in its next span. Spans are
 * in the order of zones.
 */
struct meter_pass {
	const struct zone_status *status; /* [zone_count] */
	size_t zone_count;
	const struct energy_span *spans;
	size_t span_count;
	const struct device_uses *uses; /* of devices, since the last pass */
};
/* Returns the number of zones that are up. The first span of a zone is not known: its baseline. */
size_t meter_table_read(struct meter_table *table, struct meter_pass *ret);
/* The device that has that UUID, all of it, or a part that has: "GPU-…", "MIG-…". */
bool meter_table_find_device(const struct meter_table *table, const char *uuid,
			     struct device_part *ret);
/* Zones that were found but not taken (limit, duplicates by intel-rapl-mmio), for doctor. */
size_t meter_table_ignored(const struct meter_table *table);
/*
 * Zones that were found and have not given one good value since: they are no zones of the table
 * until they do. From index 0 on, with why; NULL behind the last one.
 */
const struct zone *meter_table_silent(const struct meter_table *table, size_t index,
				      struct zone_status *ret);
size_t meter_table_silent_count(const struct meter_table *table);
/* Open device files that are beyond the limits now: their use is not known. */
uint64_t meter_table_unread_device_files(const struct meter_table *table);
/* Whether a source is read (it may have no zones yet). */
bool meter_table_has_source(const struct meter_table *table, const struct meter_ops *ops);
/* The remarks of all sources, from index 0 on; false behind the last one. For doctor. */
bool meter_table_remark(const struct meter_table *table, size_t index, struct meter_remark *ret);
