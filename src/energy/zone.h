/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A zone: something that uses energy which is counted. All rooms share this description: a meter
 * finds the zone, attribution splits its energy, a snapshot shows it, an exporter names it.
 *
 * Zones overlap: core and uncore are inside a package, package, dram and GPUs are inside psys and
 * platform. So the energies of two kinds are never added up; the energies of one kind, from several
 * sockets or devices, are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The zones of one node's meters; zones beyond the limit are counted, not read. Tables of zones
 * have that many places, in zeroed memory, so that only the places in use become resident.
 */
#define METER_ZONES_MAX 1024
/* In addition: three estimates, five by trained models, and the remainders of both qualities. */
#define ZONES_MAX         (METER_ZONES_MAX + 10)
#define ZONE_INSTANCE_MAX 48 /* "0", "1-die-0", a GPU's UUID */
#define ZONE_PACKAGE_MAX  16 /* of them, the numbers of packages */
#define ZONE_PATH_MAX     64 /* "intel-rapl:0" */
#define ZONE_ID_MAX       64 /* "package-1-die-0" */

enum zone_kind {
	ZONE_PACKAGE,
	ZONE_CORE,
	ZONE_UNCORE,
	ZONE_DRAM,
	ZONE_PSYS,
	ZONE_PLATFORM,
	ZONE_GPU,
	ZONE_OTHER, /* what no part of the platform counts: energy/remainder.h */
	ZONE_KIND_COUNT,
};

enum zone_quality { QUALITY_MEASURED, QUALITY_ESTIMATED, QUALITY_COUNT };

/*
 * The ranks of sources. The best is a counter that the part itself keeps, as RAPL does (through
 * powercap, perf or MSRs; powercap needs the fewest rights). A counter of the board's controller
 * follows, then a sensor. A counter is better than a power that is read from time to time, a source
 * in the machine is better than one on the network, and a meter is better than an estimate.
 */
#define RANK_MEASURED      0
#define RANK_MEASURED_PERF 1
#define RANK_MEASURED_MSR  2
#define RANK_BOARD_ENERGY  10
#define RANK_SENSOR_ENERGY 20
#define RANK_SENSOR_POWER  30
#define RANK_CONTROLLER    40 /* a BMC, asked from inside the machine */
#define RANK_REMOTE        50
#define RANK_SHARE         60 /* a share of a meter that covers more than the machine */
/* RAPL as a hypervisor makes it, in the order of the first three. */
#define RANK_VIRTUAL 70
#define RANK_REST    (UINT8_MAX - 2) /* an estimated whole less its estimated parts */
/* A trained model of one kind of zone; other kinds may be measured. */
#define RANK_MODEL     (UINT8_MAX - 1)
#define RANK_ESTIMATED UINT8_MAX /* the built-in models, if nothing is measured */

/*
 * The work that a zone's energy follows: the work of all CPUs, the work of the CPUs in one package,
 * or the use of one device (energy/work.h), which its meter reads with its energy. The energy of a
 * remainder follows the use of the machine's parts.
 */
enum domain_kind { DOMAIN_NODE, DOMAIN_SOCKET, DOMAIN_DEVICE, DOMAIN_PARTS };
struct domain {
	enum domain_kind kind;
	/* With DOMAIN_SOCKET the physical_package_id, with DOMAIN_DEVICE < DEVICES_MAX. */
	uint32_t number;
};

/* The energy of the machine, or the energy that a virtual machine's CPUs add to its host's. */
enum zone_scope { SCOPE_NODE, SCOPE_VM_DYNAMIC };

enum zone_state {
	ZONE_UP,      /* the last reading was good */
	ZONE_ABSENT,  /* gone (ENODEV, ENOENT); watched for */
	ZONE_ERROR,   /* readings fail or make no sense */
	ZONE_STALLED, /* a reading has not come back by its deadline */
	ZONE_MISSED,  /* not read: other zones took the time, or no thread could be made */
	/*
	 * Read, but refused: more power than the zone can draw, or so long after the last reading
	 * that its counter may have wrapped unnoticed. The energy since then is unknown.
	 */
	ZONE_REFUSED,
};

/* Why a zone's values are not quite what they should be, although they count. */
#define SOURCE_HOST_CLAIMED "host-claimed" /* the caveat's name, and the power source's */
enum zone_caveat {
	CAVEAT_NONE,
	CAVEAT_INACTIVE, /* the source reports that it does not measure now, yet has a value */
	CAVEAT_OUTPUT,   /* the output of power supplies: without what these lose themselves */
	/* There is another meter like it, which may measure the same, or another part. */
	CAVEAT_AMBIGUOUS,
	/* It is in no total, because its whole was already counted when it was found. */
	CAVEAT_LATE,
	CAVEAT_VIRTUAL,  /* a hypervisor makes the counter: a share of its host's energy */
	CAVEAT_FILTERED, /* the counter is blurred against attacks: right in sum */
	CAVEAT_CLAIMED,  /* the machine is protected from its host, which claims the energy */
};

/* The properties that all zones of a kind share. */
struct zone_kind_info {
	const char *name;
	enum zone_kind whole; /* has all energy of this kind in it; the outermost is its own */
	bool is_whole;        /* the whole machine, and no part of it */
	bool is_device;       /* a device; an estimate of the machine does not contain it */
	bool is_metered;      /* counted by meters; else computed (energy/remainder.h) */
	/*
	 * More than a zone of this kind draws on any known machine, so that what lies above is a
	 * fault and not energy; and low enough that a counter needs seconds to wrap. Chosen well
	 * above what is published; no standard bounds these figures.
	 *
	 * - package, core, uncore: 2,000 W. The largest CPUs are sold at 500 W a socket (Intel Xeon
	 *   6980P), a module that is an accelerator at 750 W (AMD Instinct MI300X); core and uncore
	 *   are parts of a package.
	 * - dram: 1,000 W a socket: 12 channels of 2 modules at about 25 W are 600 W.
	 * - psys, platform, other: 20,000 W, the whole machine. A server of 8 accelerators is
	 *   specified at up to 10.2 kW (NVIDIA DGX H100) and 14.3 kW (DGX B200).
	 * - gpu: 4,000 W a board. Boards are sold at up to 1,400 W (NVIDIA GB300, AMD MI355X).
	 */
	uint64_t max_power_uw;
};
extern const struct zone_kind_info zone_kind_info[ZONE_KIND_COUNT];

/* Fixed for the zone's life, and a plain value: a copy is as good. */
struct zone {
	enum zone_kind kind;
	struct domain domain;
	enum zone_quality quality;
	enum zone_scope scope; /* SCOPE_VM_DYNAMIC: it has no idle part at all */
	bool knows_idle;       /* the source itself knows the idle part of the energy */
	bool is_remote;        /* it is asked for over a network */
	bool has_gpus;         /* of a psys: it has the energy of GPUs in it */
	bool is_unverified;    /* and the certificate of what answers is not verified */
	/*
	 * Distinguishes zones of one kind: the number of the package (for core, uncore and dram, of
	 * the package that they are in), the UUID of a GPU; "" if the kind has one zone.
	 */
	char instance[ZONE_INSTANCE_MAX];
	/* Where it was found: "intel-rapl:0:1", "nvidia0"; the model's name for an estimate. */
	char path[ZONE_PATH_MAX];
	const char *source; /* static: "rapl-sysfs", "trained_power_model" */
	uint8_t rank;       /* of the source, 0 is the best: energy/rank.h */
};

const char *zone_kind_name(enum zone_kind kind);          /* "package"; "unknown" beyond */
const char *zone_state_name(enum zone_state state);       /* "up", "absent", … */
const char *zone_caveat_name(enum zone_caveat caveat);    /* "", "inactive", … */
const char *zone_quality_name(enum zone_quality quality); /* "measured", "estimated" */
const char *zone_scope_name(enum zone_scope scope);       /* "node", "vm_dynamic" */

/*
 * The domain of a zone of @kind with @instance, as the kernel names zones: "1" and "1-die-0" are in
 * package 1, and their energy follows the work of its CPUs. The domain of psys and platform is the
 * whole machine. Only its meter knows the domain of a GPU; here it is the whole machine.
 */
struct domain zone_domain(enum zone_kind kind, const char *instance);
/* The name that people and options use: "package-0"; "platform" if there is only one. */
void zone_id(const struct zone *zone, char ret[ZONE_ID_MAX]);
/*
 * Parses a name as zone_id() writes it, for a metered zone that is not a device: a kind, and "" or
 * a number as its instance.
 */
bool zone_id_parse(const char *text, size_t len, enum zone_kind *ret_kind,
		   char ret_instance[static ZONE_INSTANCE_MAX]);
/* The instance of a number: "0" and "00" are one. False if it is not a number, or too long. */
bool zone_instance_of_number(const char *number, size_t len, char ret[static ZONE_INSTANCE_MAX]);
/* Is @id the name of the zone or of its kind? */
bool zone_has_id(const struct zone *zone, const char *id);
/* Is the zone computed by a model? An estimate may also be a share of a measured zone. */
bool zone_is_modelled(const struct zone *zone);
/*
 * Do both have the same kind, source and quality? Such zones are different parts of the machine, so
 * their energies are added up.
 */
bool zone_are_alike(const struct zone *a, const struct zone *b);
/* Is the energy of @part also in @whole, as counted by the same source in the same package? */
bool zone_is_inside(const struct zone *part, const struct zone *whole);
