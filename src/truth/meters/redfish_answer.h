/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of a Redfish service (DMTF DSP0266, schemas DSP8010) as JSON, from a machine on the
 * network: links and powers, which are checked. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define REDFISH_LINK_MAX    256
#define REDFISH_MEMBERS_MAX 64

/* A path of the service, "/redfish/v1/Chassis/1"; "": none. */
struct truth_link {
	char path[REDFISH_LINK_MAX];
};

/* NULL: no JSON object, or no memory. To be given up with json_decref(). */
json_t *truth_redfish_parse(const char *text, size_t len);
/* The link at @key. False: there is none, or its path has other characters than paths have. */
bool truth_redfish_link(const json_t *object, const char *key, struct truth_link *ret);
/* The links of a collection. The count; more than REDFISH_MEMBERS_MAX are not taken. */
size_t truth_redfish_members(const json_t *object, struct truth_link *ret);
/*
 * The power in W of EnvironmentMetrics (PowerWatts), Power (the first PowerControl), of the metrics
 * of a power supply (InputPowerWatts), or of a sensor of power. False: the resource has no power
 * now, or has 0 W, which a machine that asks never draws.
 */
bool truth_redfish_watts(const json_t *object, double *ret_w);
