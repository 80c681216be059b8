/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redfish service's data about power, from its responses (DMTF DSP0266; schemas of DSP8010:
 * Chassis, EnvironmentMetrics, PowerSupplyMetrics, Power, Sensor). Pure.
 *
 * Responses come from a machine on the network and are checked as such. A value that is missing,
 * null, negative, beyond all reason or not a number counts as missing, never as 0. Three deviations
 * of services from their schema are read: an object in place of an array of one, a number as
 * decimal text, and a bare value in place of an object with its Reading. Only paths of the service
 * itself ("/redfish/…") are taken.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDFISH_PATH_MAX    256
#define REDFISH_MEMBERS_MAX 256 /* of a collection; further ones are counted */
#define REDFISH_SYSTEMS_MAX 8   /* that a chassis may hold; more are "several", too */

struct redfish_path {
	char text[REDFISH_PATH_MAX]; /* "/redfish/v1/Chassis/1"; "": none */
	bool has_slash;              /* at its end: some services want it there, others not */
};

/* The members of a collection, each once. */
struct redfish_members {
	struct redfish_path paths[REDFISH_MEMBERS_MAX];
	size_t count;
	size_t listed; /* entries so far, without those of earlier pages */
	size_t total;  /* that there are, as the service says; 0: it does not say */
	/* At least so many are not known: no path of this service, or no room for them. */
	size_t left_out;
	const char *why; /* static, of the first that were left out; NULL: none were */
};

/* Power and energy of the requested object; unknown values are absent. */
struct redfish_reading {
	bool has_power, has_energy;
	uint64_t power_uw, energy_uj; /* the energy is a counter */
	uint64_t window_ns;           /* over which the power is a mean; 0: not known */
	bool is_output;               /* the power is the output of supplies */
};

/* The input and output power of one supply, as far as they are known. */
struct redfish_supply_power {
	bool has_input, has_output;
	uint64_t input_uw, output_uw;
};

/* The sums over all supplies of a machine. */
struct redfish_supply_sum {
	struct redfish_supply_power power;
	bool lacks_input, lacks_output; /* one that is not off has none */
};

struct redfish_chassis {
	struct redfish_path path, contained_by;
	struct redfish_path systems[REDFISH_SYSTEMS_MAX]; /* that are in it */
	size_t system_count;
	bool is_component; /* a card, a module or a zone in a machine, by its ChassisType */
	bool is_outside;   /* a rack or another thing outside of a machine */
	struct redfish_path environment, subsystem, power, sensors;
};

/* A path of the service, without a fragment; "" if it is not one. */
void redfish_path_take(const char *text, struct redfish_path *ret);
bool redfish_path_is_same(const struct redfish_path *a, const struct redfish_path *b);
/* Its last part: the "1" of "/redfish/v1/Chassis/1". */
const char *redfish_path_id(const struct redfish_path *path);
/* Where @object's @key leads to: {"@odata.id": …}. */
struct redfish_path redfish_link(const json_t *object, const char *key);
/* Adds the "Members" of a page of a collection; how many are new. */
size_t redfish_members_add(const json_t *page, struct redfish_members *members);
/* Adds one that no page has. */
void redfish_members_add_path(struct redfish_members *members, const struct redfish_path *path);
/* At least @count are not known, and @why (static). */
void redfish_members_leave_out(struct redfish_members *members, size_t count, const char *why);
/* The link from a page to the next one, as the service has it; "" on the last page. */
const char *redfish_next_link(const json_t *page);
/*
 * A path, or an address with a path of the very service that is at @origin ("https://HOST:PORT");
 * "" for all else.
 */
void redfish_path_take_from(const char *origin, const char *text, struct redfish_path *ret);
/* The message of an error (extended or not), for people; "" if it is missing. */
const char *redfish_message(const json_t *error);

void redfish_chassis_read(const json_t *chassis, const struct redfish_path *path,
			  struct redfish_chassis *ret);
/*
 * Which of @count chassis belong to the machine @system and to no other, the best first: a chassis
 * that holds others before those in it, and a machine before a component. Fills order[0..count);
 * returns their number. @is_only: the service has no other system, so a chassis without links to
 * systems is the machine's as well, after those with links, unless it is a rack or similar; a
 * component without links only if no chassis has links. A @system "" is one that nothing names:
 * then exactly one chassis may be a machine.
 * *ret_shared: a chassis of the system has other systems as well, as the enclosure of blades does;
 * or there are several for a system that nothing names.
 */
size_t redfish_chassis_choose(const struct redfish_chassis *list, size_t count,
			      const struct redfish_path *system, bool is_only, size_t *order,
			      bool *ret_shared);

/* EnvironmentMetrics: PowerWatts, EnergykWh. *ret_sensor: where the power is described, or "". */
void redfish_environment_read(const json_t *metrics, struct redfish_reading *ret,
			      struct redfish_path *ret_sensor);
/*
 * PowerControl of Power: the first that is the whole machine's; some vendors list processors and
 * memory after it. PowerConsumedWatts, else AverageConsumedWatts over IntervalInMin.
 */
void redfish_power_control_read(const json_t *power, struct redfish_reading *ret);
/* A bay without a power supply. */
bool redfish_supply_is_absent(const json_t *supply);
/*
 * True if a supply need not have a value, by its state: it is absent, without mains, disabled or a
 * spare that stands by. A supply in any other state must have one for a sum to be known.
 */
bool redfish_supply_is_off(const json_t *supply);
/* PowerSupplyMetrics: InputPowerWatts, OutputPowerWatts. */
void redfish_supply_metrics_read(const json_t *metrics, struct redfish_supply_power *ret);
/* One more supply; of one that @is_off no value is needed. */
void redfish_supply_sum_add(struct redfish_supply_sum *sum, const struct redfish_supply_power *one,
			    bool is_off);
/*
 * The input power of all supplies. If none has an input value, their output power, which is lower
 * than the machine's power by the losses of the supplies (is_output). No value if a supply lacks
 * it.
 */
void redfish_supply_sum_read(const struct redfish_supply_sum *sum, struct redfish_reading *ret);
/*
 * PowerSupplies of Power, the older schema: PowerInputWatts, PowerOutputWatts or
 * LastPowerOutputWatts, as a sum.
 */
void redfish_old_supplies_read(const json_t *power, struct redfish_reading *ret);
/*
 * A Sensor of power, and the time over which it averages. No power if its PhysicalContext, or
 * without one its Name, belongs to a part of the machine.
 */
void redfish_sensor_read(const json_t *sensor, struct redfish_reading *ret);
/*
 * Returns true if a sensor of this id may measure all of the machine's power: total_power,
 * SysBoardPwr. Not if it names a part (bmc/part_name.h), because it may be that part's sum.
 */
bool redfish_sensor_is_total(const char *id);
