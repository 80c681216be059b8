// SPDX-License-Identifier: Apache-2.0
#include "host/nominal_frequency.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define GHZ_MAX   100
#define MODEL_MAX 16

/* Base clocks of AMD EPYC as amd.com publishes them, by model, in the order of strcmp(). */
struct epyc {
	const char *model;
	double ghz;
};

/* clang-format off */
static const struct epyc epycs[] = {
	{ "7203", 2.8 }, { "7203P", 2.8 }, { "7232P", 3.1 }, { "7251", 2.1 }, { "7252", 3.1 },
	{ "7261", 2.5 }, { "7262", 3.2 }, { "7272", 2.9 }, { "7281", 2.1 }, { "7282", 2.8 },
	{ "72F3", 3.7 }, { "7301", 2.2 }, { "7302", 3 }, { "7302P", 3 }, { "7303", 2.4 },
	{ "7303P", 2.4 }, { "7313", 3 }, { "7313P", 3 }, { "7343", 3.2 }, { "7351", 2.4 },
	{ "7351P", 2.4 }, { "7352", 2.3 }, { "7371", 3.1 }, { "7373X", 3.05 }, { "73F3", 3.5 },
	{ "7401", 2 }, { "7401P", 2 }, { "7402", 2.8 }, { "7402P", 2.8 }, { "7413", 2.65 },
	{ "7443", 2.85 }, { "7443P", 2.85 }, { "7451", 2.3 }, { "7452", 2.35 }, { "7453", 2.75 },
	{ "7473X", 2.8 }, { "74F3", 3.2 }, { "7501", 2 }, { "7502", 2.5 }, { "7502P", 2.5 },
	{ "7513", 2.6 }, { "7532", 2.4 }, { "7542", 2.9 }, { "7543", 2.8 }, { "7543P", 2.8 },
	{ "7551", 2 }, { "7551P", 2 }, { "7552", 2.2 }, { "7573X", 2.8 }, { "75F3", 2.95 },
	{ "7601", 2.2 }, { "7642", 2.3 }, { "7643", 2.3 }, { "7662", 2 }, { "7663", 2 },
	{ "7702", 2 }, { "7702P", 2 }, { "7713", 2 }, { "7713P", 2 }, { "7742", 2.25 },
	{ "7763", 2.45 }, { "7773X", 2.2 }, { "7F32", 3.7 }, { "7F52", 3.5 }, { "7F72", 3.2 },
	{ "7H12", 2.6 }, { "8024P", 2.4 }, { "8024PN", 2.05 }, { "8124P", 2.45 },
	{ "8124PN", 2 }, { "8224P", 2.55 }, { "8224PN", 2 }, { "8324P", 2.65 },
	{ "8324PN", 2.05 }, { "8434P", 2.5 }, { "8434PN", 2 }, { "8534P", 2.3 }, { "8534PN", 2 },
	{ "9124", 3 }, { "9174F", 4.1 }, { "9184X", 3.55 }, { "9224", 2.5 }, { "9254", 2.9 },
	{ "9274F", 4.05 }, { "9334", 2.7 }, { "9354", 3.25 }, { "9354P", 3.25 },
	{ "9374F", 3.85 }, { "9384X", 3.1 }, { "9454", 2.75 }, { "9454P", 2.75 },
	{ "9474F", 3.6 }, { "9534", 2.45 }, { "9554", 3.1 }, { "9554P", 3.1 }, { "9634", 2.25 },
	{ "9654", 2.4 }, { "9654P", 2.4 }, { "9684X", 2.55 }, { "9734", 2.2 }, { "9754", 2.25 },
	{ "9754S", 2.25 },
};
/* clang-format on */

/* "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz" → 2.4 */
static double stated(const char *model)
{
	const char *at = strstr(model, "@ ");
	char text[MODEL_MAX];
	double ghz;
	size_t len;

	if (!at)
		return 0;
	at += 2;
	len = strspn(at, "0123456789.");
	if (len == 0 || len >= sizeof(text) || strncmp(at + len, "GHz", 3) != 0)
		return 0;
	memcpy(text, at, len);
	text[len] = '\0';
	return parse_double(text, &ghz) == 0 && ghz > 0 && ghz < GHZ_MAX ? ghz : 0;
}

static int compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct epyc *)row)->model);
}

/* "AMD EPYC 7702 64-Core Processor" → 2.0 */
static double of_epyc(const char *model)
{
	static const char series[] = "EPYC ";
	const char *at = strstr(model, series);
	const struct epyc *row;
	char name[MODEL_MAX];
	size_t len;

	if (!at)
		return 0;
	at += sizeof(series) - 1;
	len = strcspn(at, " ");
	if (len >= sizeof(name))
		return 0;
	memcpy(name, at, len);
	name[len] = '\0';
	row = bsearch(name, epycs, ARRAY_SIZE(epycs), sizeof(*row), compare);
	return row ? row->ghz : 0;
}

double nominal_frequency_ghz(const char *model)
{
	double ghz = stated(model);

	return ghz > 0 ? ghz : of_epyc(model);
}
