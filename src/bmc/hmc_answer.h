/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses of the Web Services of an IBM Hardware Management Console in JSON: SC27-2646, "Hardware
 * Management Console Web Services API", about sessions, CPCs, logical partitions (classic mode) and
 * partitions (DPM mode). A CPC is a whole machine, which partitions share. Pure.
 *
 * Responses come from a machine on the network and are checked as such: a name or a path that is
 * too long, a number beyond all reason or of another type counts as missing. Paths belong to the
 * service ("/api/…").
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HMC_PATH_MAX    128
#define HMC_NAME_MAX    72  /* of a partition in DPM mode; in classic mode 8 */
#define HMC_OBJECTS_MAX 128 /* CPCs of a console, partitions of a CPC (85 at most) */

struct hmc_path {
	char text[HMC_PATH_MAX]; /* "/api/cpcs/2d7ef0c1-…"; "": none */
};

/* One of a list: a CPC or a partition. */
struct hmc_object {
	struct hmc_path path;
	char name[HMC_NAME_MAX];
	bool is_active; /* of a partition: it holds processors */
};

struct hmc_list {
	struct hmc_object objects[HMC_OBJECTS_MAX];
	size_t count;
	bool is_cut; /* some have no place here, or cannot be read */
};

/* Kinds of processor: all are cores of the same chips, with different work that they may do. */
enum hmc_processor { HMC_CP, HMC_IFL, HMC_ICF, HMC_ZIIP, HMC_PROCESSORS };

struct hmc_cpc {
	bool is_dpm;
	unsigned processors[HMC_PROCESSORS]; /* that are there to be used */
};

/*
 * A partition's processors of each kind: processors of its own, or a weight among those that share.
 */
struct hmc_partition {
	bool is_dedicated;
	unsigned processors[HMC_PROCESSORS]; /* of its own with is_dedicated */
	unsigned weights[HMC_PROCESSORS];    /* else; 0: it has none of the kind */
};

/* A path of the service; "" if it is not one. */
void hmc_path_take(const char *text, struct hmc_path *ret);
/* "api-session" of a logon, which is only valid as a header; NULL if it is missing. */
const char *hmc_session(const json_t *answer);
/* The reason code of an error, in addition to its HTTP status; -1 if it is missing. */
int hmc_reason(const json_t *error);
/* Its message for people; "" if it is missing. */
const char *hmc_message(const json_t *error);

/* Entries of the array at @key: "cpcs", "logical-partitions" or "partitions". */
void hmc_list_read(const json_t *answer, const char *key, struct hmc_list *ret);
void hmc_cpc_read(const json_t *properties, struct hmc_cpc *ret);
/* False: the partition's part of the processors is unknown. */
bool hmc_partition_read(const json_t *properties, bool is_dpm, struct hmc_partition *ret);
/*
 * The part of the processors, in 0..1, that the partition @own has among the active ones: its
 * dedicated processors, and of the shared ones of each kind the fraction that its weight is of all
 * weights. The shares of all add up to 1. -1 if that is not known: no partition has a processor, or
 * the CPC has no shared processor of a kind that has weights.
 */
double hmc_share(const struct hmc_cpc *cpc, const struct hmc_partition *partitions, size_t count,
		 size_t own);
