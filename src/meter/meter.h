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

#include "base/macro.h"
#include "energy/span.h"
#include "meter/boards/hlml.h"
#include "meter/boards/nvml.h"
#include "meter/device_uses.h"
#include "meter/external/external.h"
#include "meter/hwmon/hwmon.h"
#include "meter/ipmi.h"
#include "meter/passthrough/passthrough.h"
#include "meter/rapl/rapl_msr.h"
#include "meter/rapl/rapl_perf.h"
#include "meter/remote/hmc.h"
#include "meter/remote/redfish.h"
#include "options/option_set.h"

enum sample_kind {
	SAMPLE_COUNTER, /* µJ; wraps to 0 after range_uj */
	SAMPLE_TOTAL,   /* µJ; never wraps: a lower value means that it was reset */
	SAMPLE_POWER,   /* µW; the mean from from_ns to to_ns, or at to_ns where from_ns is 0 */
};

/* A device, or a part of it that has its own name, such as a MIG instance. */
struct device_part {
	uint32_t device; /* its number in struct domain */
	uint32_t held;   /* of DEVICE_WHOLE */
};

/* One value as the source has it. */
struct raw_reading {
	uint64_t value;
	uint64_t range_uj;   /* of a counter: its largest value */
	uint32_t generation; /* changes whenever the zone's counter is reopened */
	enum sample_kind kind;
	enum zone_caveat caveat;
	/* MONOTONIC, if the source knows the time of the value; to_ns 0: the time of reading. */
	uint64_t from_ns, to_ns;
	/*
	 * A counter that is fed from a smaller one when it is read must be read before the smaller
	 * one wraps: the energy within which it does. 0: it is not fed so.
	 */
	uint64_t unread_max_uj;
	/* The idle part of the value; only of a total, where the zone knows_idle. */
	uint64_t idle_uj;
	/* The source of a total has made sure that no more flowed than can have. */
	bool is_plausible;
};

/*
 * For people: something that was found and is not a zone, with the option that would make it one;
 * or a limitation of a zone's values.
 */
struct meter_remark {
	char what[256];
	char option[224]; /* "": no option would */
	bool is_failure;  /* it should be read, and cannot be */
	bool is_caveat;   /* values are counted nevertheless: the log reports it, too */
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
struct meter;

/* The options of all sources, and facts about this machine that several sources need. */
struct meter_options {
	const char *sysfs;         /* root of sensors, "/sys" */
	uint64_t read_deadline_ns; /* per pass over all zones */
	/* A delta that implies more power per zone is refused and counted; 0: by its kind. */
	uint64_t max_power_uw;
	/*
	 * "core" is one physical core of its package, not all: so on AMD and Hygon, whose MSR
	 * C001_029A counts a core (Linux: Documentation/hwmon/amd_energy.rst) and is read on one
	 * CPU of the package (drivers/powercap/intel_rapl_msr.c). Such zones are left out.
	 */
	bool core_is_one_core;
	/* A hypervisor makes the registers of RAPL: they are a share of its host's energy. */
	bool rapl_is_virtual;
	/* The machine is protected from its host, which may claim any energy. */
	bool host_is_distrusted;
	bool wants_holders;                /* also report the processes that hold a device idle */
	struct device_files *device_files; /* NULL: the use of DRM's boards is unknown; borrowed */
	const char *node_name;             /* this machine's, in files of several; borrowed */
	const char *procfs;                /* "/proc"; borrowed; NULL: none */
	char *sources; /* "auto,rapl-msr": see meter_is_chosen(); NULL: auto; borrowed */
	/* As CPUID has them: "GenuineIntel", see meter/rapl/rapl_units.h. NULL and 0: unknown. */
	const char *cpu_vendor; /* borrowed */
	unsigned cpu_family, cpu_model;
	/* Each source's own. */
	struct rapl_perf_options rapl_perf;
	struct rapl_msr_options rapl_msr;
	struct hwmon_options hwmon;
	struct external_options external;
	struct nvml_options nvml;
	struct hlml_options hlml;
	struct ipmi_options ipmi;
	struct redfish_options redfish;
	struct hmc_options hmc;
	struct passthrough_meter_options passthrough;
};
/* Rows over a source's options, which are @member of struct meter_options. */
#define METER_OPTIONS(rows, member)                                                                \
	{                                                                                          \
		rows, ARRAY_SIZE(rows), offsetof(struct meter_options, member)                     \
	}

/* Device files that a source opens. */
struct meter_device {
	const char *unit;    /* for DeviceAllow= of a systemd unit: "char-nvidia* rw" */
	const char *written; /* how paths begin that are opened for writing; NULL: only read */
};
#define METER_DEVICES_MAX 2 /* per source */
/* Called with the path of a file or directory. */
typedef void meter_path_fn(void *userdata, const char *path);

struct meter_ops {
	const char *name;   /* "rapl-sysfs" */
	uint64_t period_ns; /* required for SAMPLE_POWER, which is integrated over it */
	/* read_raw() and rescan() wait for a value by themselves, for less than a period. */
	bool waits;
	uint64_t close_ns; /* how long the end waits for close(), but at least the deadline */
	struct option_section options; /* METER_OPTIONS(); all zero: the source has none */
	/* Its needs beyond reading files that only root may read: bits of enum need. */
	unsigned needs;
	/* Returns true if this machine needs @needs once the source is chosen; NULL: always. */
	bool (*needs_apply)(const struct meter_options *options);
	struct meter_device devices[METER_DEVICES_MAX]; /* from the first on; unit NULL: none */
	/* Passes to @add each path that options name and that is opened later. NULL: none. */
	void (*files)(const struct meter_options *options, meter_path_fn *add, void *userdata);
	/* The period of this meter, which is fixed. NULL: period_ns. */
	uint64_t (*own_period_ns)(const struct meter *meter);
	/*
	 * Returns true if the source is opened without being named. False: the machine cannot have
	 * it, or it is read only by request. NULL: always.
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
	/* The remarks, from index 0 on; false after the last. NULL: the source has none. */
	bool (*remark)(struct meter *meter, size_t index, struct meter_remark *ret);
	/* 0 or -errno; -ENODEV and -ENOENT: the zone is gone; -EAGAIN: no new value. */
	int (*read_raw)(struct meter *meter, size_t index, struct raw_reading *ret);
	/*
	 * Searches for zones: new ones are added, returned ones reopened. Indexes stay. 0 or
	 * -errno; -EAGAIN: one may appear soon, so a poller searches again after a period.
	 */
	int (*rescan)(struct meter *meter);
	/*
	 * The uses of the zone's device that the last read_raw() found, even if that failed; called
	 * on the same thread, valid until the next read_raw(). NULL: no zone is a device.
	 */
	const struct device_use *(*uses)(struct meter *meter, size_t index, size_t *ret_count);
	/*
	 * The part of a device that had that UUID ("MIG-…") at the last reading; false: none had.
	 * NULL: no device has parts.
	 */
	bool (*find_part)(struct meter *meter, const char *uuid, struct device_part *ret);
	/* From any thread: ends calls that are under way; close() follows. NULL: not needed. */
	void (*stop)(struct meter *meter);
	void (*close)(struct meter *meter);
};
