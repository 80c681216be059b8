/* SPDX-License-Identifier: Apache-2.0 */
/* --price.…, --carbon.… and --site.…: where rates come from. "" is nowhere. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "options/option_set.h"

/* A price may be negative, as on power exchanges. */
#define RATE_PRICE_MIN     -1000.0
#define RATE_PRICE_MAX     1e6
#define RATE_INTENSITY_MAX 5000.0
#define RATE_EMBODIED_MAX  1e6
#define RATE_PUE_MAX       10.0
#define RATE_CURRENCY_LEN  3
#define RATE_KIND_MAX      16

/* A file or a URL that has one rate; at most one of them may be given. */
struct rate_feed_options {
	char *file;
	char *url, *path, *key_file, *ca_file;
	uint64_t refresh_ns; /* between two requests to the URL */
	uint64_t max_age_ns; /* after which a value no longer counts */
};

struct rates_options {
	struct {
		char *per_kwh; /* a number */
		char *currency;
		char *schedule; /* rate_schedule.h */
		struct rate_feed_options feed;
	} price;
	struct {
		char *intensity; /* a number, g/kWh */
		char *kind;      /* of @intensity, the file and unknown feeds */
		struct rate_feed_options feed;
		char *embodied; /* a number, g/h */
	} carbon;
	char *pue; /* a number */
};

const struct option_section *rates_options_at(size_t index);
/* The @index-th file that is read, "" if it is not used; NULL after the last. */
const char *rates_file_at(const struct rates_options *options, size_t index);
/* 0, or -EINVAL with a diagnosis: values that exclude each other. */
int rates_options_check(const struct rates_options *options, struct diag *diag);
