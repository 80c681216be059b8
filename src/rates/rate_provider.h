/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds of grid carbon intensity and prices that are known by their URL: where the value is in the
 * answer, its unit and kind, and how the key is sent. Pure.
 *
 * Sources: Electricity Maps, API reference v3 (carbon-intensity/latest; header auth-token; gCO2eq
 * per kWh); WattTime, API reference v3 (login by HTTP Basic for a token of 30 minutes; signal type
 * co2_moer in pounds per MWh, marginal); a pound has 453.59237 g. Prometheus, HTTP API, instant
 * queries.
 */
#pragma once

#include <stdbool.h>

struct rate_provider {
	const char *host;       /* its end; NULL: any host */
	const char *resource;   /* the beginning of the path in the URL, or NULL */
	const char *name;       /* for the label source */
	const char *path;       /* of the value: rate_answer.h; NULL: it has to be given */
	const char *kind;       /* "average" or "marginal"; "": not known */
	double factor;          /* from its unit to ours */
	const char *key_header; /* NULL: the key is a bearer token */
	const char *login_url;  /* the key is user:password, which gets a token there; NULL */
	const char *login_path; /* of the token in that answer */
};

/* Never NULL: the provider that answers at @url. */
const struct rate_provider *rate_provider_of(const char *url);
