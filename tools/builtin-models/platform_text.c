// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define COLUMNS_MAX 100
#define TAB_COLUMNS 8

static const char *const feature_names[POWER_FEATURE_COUNT] = {
	[POWER_FEATURE_ONE] = "ONE",
	[POWER_FEATURE_LN_CORES] = "LN_CORES",
	[POWER_FEATURE_LN_SOCKETS] = "LN_SOCKETS",
	[POWER_FEATURE_LN_MEMORY] = "LN_MEMORY",
	[POWER_FEATURE_LN_GHZ] = "LN_GHZ",
	[POWER_FEATURE_YEAR] = "YEAR",
	[POWER_FEATURE_YEAR_2007] = "YEAR_2007",
	[POWER_FEATURE_YEAR_2010] = "YEAR_2010",
	[POWER_FEATURE_YEAR_2014] = "YEAR_2014",
	[POWER_FEATURE_YEAR_2018] = "YEAR_2018",
	[POWER_FEATURE_AMD] = "AMD",
	[POWER_FEATURE_ARM] = "ARM",
	[POWER_FEATURE_ZEN] = "ZEN",
	[POWER_FEATURE_LN_GHZ_BY_YEAR] = "LN_GHZ_BY_YEAR",
	[POWER_FEATURE_LN_TDP] = "LN_TDP",
	[POWER_FEATURE_LN_TDP_BY_YEAR] = "LN_TDP_BY_YEAR",
	[POWER_FEATURE_SMALL] = "SMALL",
	[POWER_FEATURE_EXPANDED] = "EXPANDED",
	[POWER_FEATURE_ENTRY] = "ENTRY",
	[POWER_FEATURE_QUAD] = "QUAD",
	[POWER_FEATURE_EDGE] = "EDGE",
	[POWER_FEATURE_BUS] = "BUS",
};

static const char *const bump_names[POWER_BUMP_COUNT] = {
	[POWER_BUMP_LN_TDP] = "LN_TDP",
	[POWER_BUMP_LN_CORES_PER_SOCKET] = "LN_CORES_PER_SOCKET",
	[POWER_BUMP_LN_SOCKETS] = "LN_SOCKETS",
	[POWER_BUMP_LN_GHZ] = "LN_GHZ",
	[POWER_BUMP_YEAR] = "YEAR",
	[POWER_BUMP_LN_MEMORY_PER_CORE] = "LN_MEMORY_PER_CORE",
	[POWER_BUMP_AMD] = "AMD",
	[POWER_BUMP_ARM] = "ARM",
	[POWER_BUMP_SMALL] = "SMALL",
	[POWER_BUMP_EXPANDED] = "EXPANDED",
	[POWER_BUMP_ENTRY] = "ENTRY",
	[POWER_BUMP_QUAD] = "QUAD",
	[POWER_BUMP_EDGE] = "EDGE",
	[POWER_BUMP_BUS] = "BUS",
};

static const char *const bump_set_names[POWER_BUMP_SETS] = {
	[POWER_BUMPS_ALIKE] = "ALIKE",
	[POWER_BUMPS_MEMORY] = "MEMORY",
};

static const char *const tdp_names[POWER_TDP_COUNT] = {
	[POWER_TDP_ONE] = "ONE",
	[POWER_TDP_LN_CORES_PER_SOCKET] = "LN_CORES_PER_SOCKET",
	[POWER_TDP_LN_GHZ] = "LN_GHZ",
	[POWER_TDP_YEAR] = "YEAR",
	[POWER_TDP_YEAR_2007] = "YEAR_2007",
	[POWER_TDP_YEAR_2010] = "YEAR_2010",
	[POWER_TDP_YEAR_2014] = "YEAR_2014",
	[POWER_TDP_YEAR_2018] = "YEAR_2018",
	[POWER_TDP_AMD] = "AMD",
	[POWER_TDP_ARM] = "ARM",
	[POWER_TDP_ZEN] = "ZEN",
	[POWER_TDP_LOW_POWER] = "LOW_POWER",
	[POWER_TDP_SMALL] = "SMALL",
	[POWER_TDP_EXPANDED] = "EXPANDED",
	[POWER_TDP_ENTRY] = "ENTRY",
	[POWER_TDP_QUAD] = "QUAD",
	[POWER_TDP_EDGE] = "EDGE",
	[POWER_TDP_BUS] = "BUS",
};

static void add_row(struct strbuf *out, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "%s%.6g", i ? ", " : "{ ", values[i]);
	strbuf_add_str(out, " }");
}

static void add_head(const struct platform_origin *origin, struct strbuf *out)
{
	strbuf_addf(
		out,
		"// SPDX-License-Identifier: Apache-2.0\n"
		"/*\n"
		" * Written by builtin-models platform on %s; do not edit. Fitted\n"
		" * weights, our own.\n"
		" *\n"
		" * Fitted to results of the SPECpower_ssj2008 benchmark (Standard Performance\n"
		" * Evaluation Corporation, www.spec.org; SPEC and SPECpower_ssj are its\n"
		" * trademarks), read from a processed table of %zu machine types and %zu load\n"
		" * levels. Errors of machines that were held out, means (medians) over types:\n",
		origin->date, origin->types, origin->rows);
	for (const char *line = origin->errors; *line;) {
		size_t len = strcspn(line, "\n");

		strbuf_add_str(out, " *   ");
		strbuf_add(out, line, len);
		strbuf_add_char(out, '\n');
		line += len + (line[len] == '\n');
	}
	strbuf_add_str(out, " */\n"
			    "#include \"model/platform_power_weights.h\"\n"
			    "\n"
			    "#include \"base/macro.h\"\n"
			    "\n"
			    "/* clang-format off */\n");
}

/* As many in a line as it has room for. */
static void add_cpus(const struct power_model_weights *weights, struct strbuf *out)
{
	size_t column = 0;

	for (size_t i = 0; i < weights->cpu_count; i++) {
		char row[128];
		size_t len = (size_t)snprintf(row, sizeof(row), "{ \"%s\", %.4f, %.4f },",
					      weights->cpus[i].key, weights->cpus[i].idle_ln_w,
					      weights->cpus[i].load_ln_w);
		bool fits = column && column + 1 + len <= COLUMNS_MAX;

		strbuf_add_str(out, fits ? " " : column ? "\n\t" : "\t");
		strbuf_add_str(out, row);
		column = (fits ? column + 1 : TAB_COLUMNS) + len;
	}
}

static void add_offsets(const struct power_model_weights *weights, struct strbuf *out)
{
	strbuf_add_str(out, "static const struct power_generation generations[] = {\n");
	for (size_t i = 0; i < weights->generation_count; i++) {
		const struct power_generation *row = &weights->generations[i];

		strbuf_addf(out, "\t{ \"%s\", %u, %s, ", row->vendor, row->year,
			    row->small ? "true" : "false");
		add_row(out, row->ln_w, POWER_LEVELS);
		strbuf_add_str(out, " },\n");
	}
	strbuf_add_str(out, "};\n\nstatic const struct power_cpu cpus[] = { /* idle, load */\n");
	add_cpus(weights, out);
	strbuf_add_str(out, "\n};\n\n");
}

static void add_bumps(const char *set, const struct power_bumps *bumps, struct strbuf *out)
{
	strbuf_addf(out, "\t\t[POWER_BUMPS_%s] = {\n\t\t\t.reach = {\n", set);
	for (size_t n = 0; n < POWER_BUMP_COUNT; n++) {
		if (bumps->reach[n] > 0)
			strbuf_addf(out, "\t\t\t\t[POWER_BUMP_%s] = %g,\n", bump_names[n],
				    bumps->reach[n]);
	}
	strbuf_add_str(out,
		       "\t\t\t},\n"
		       "\t\t\t.centers = { /* facts over reach; ln W at each tenth of load */\n");
	for (size_t c = 0; c < POWER_CENTERS; c++) {
		strbuf_add_str(out, "\t\t\t\t{ ");
		add_row(out, bumps->centers[c].at, POWER_BUMP_COUNT);
		strbuf_add_str(out, ", ");
		add_row(out, bumps->centers[c].ln_w, POWER_LEVELS);
		strbuf_add_str(out, " },\n");
	}
	strbuf_add_str(out, "\t\t\t},\n\t\t},\n");
}

static void add_surfaces(const struct power_model_weights *weights, struct strbuf *out)
{
	strbuf_add_str(out, "\t.linear = { /* ln W at each tenth of load */\n");
	for (size_t n = 0; n < POWER_FEATURE_COUNT; n++) {
		strbuf_addf(out, "\t\t[POWER_FEATURE_%s] = ", feature_names[n]);
		add_row(out, weights->linear[n], POWER_LEVELS);
		strbuf_add_str(out, ",\n");
	}
	strbuf_add_str(out, "\t},\n\t.bumps = {\n");
	for (size_t set = 0; set < POWER_BUMP_SETS; set++)
		add_bumps(bump_set_names[set], &weights->bumps[set], out);
	strbuf_add_str(out, "\t},\n\t.tdp = { /* ln W of a package */\n");
	for (size_t n = 0; n < POWER_TDP_COUNT; n++)
		strbuf_addf(out, "\t\t[POWER_TDP_%s] = %.6g,\n", tdp_names[n], weights->tdp[n]);
	strbuf_add_str(out, "\t},\n");
}

static void add_bounds(const struct power_model_weights *weights, struct strbuf *out)
{
	strbuf_add_str(out,
		       "\t.bound = { /* CPU model known; generation known; neither; no name */\n");
	for (size_t k = 0; k < POWER_FAMILIARITY_COUNT; k++) {
		double bound[POWER_LEVELS];

		for (size_t level = 0; level < POWER_LEVELS; level++)
			bound[level] = round(weights->bound[k][level] * 1000) / 1000;
		strbuf_add_str(out, "\t\t");
		add_row(out, bound, POWER_LEVELS);
		strbuf_add_str(out, ",\n");
	}
	strbuf_add_str(out, "\t},\n");
}

static void add_range(const char *name, const struct power_range *range, int digits,
		      struct strbuf *out)
{
	strbuf_addf(out, "\t.%s = { %.*f, %.*f },\n", name, digits, range->least, digits,
		    range->most);
}

static void add_population(const struct power_model_weights *weights, struct strbuf *out)
{
	strbuf_add_str(out, "\t.typical = { /* from year, cores a socket, sockets, GiB a core, GHz "
			    "*/\n");
	for (size_t k = 0; k < POWER_TYPICAL_CLASSES; k++) {
		const struct typical_machine *row = &weights->typical[k];

		strbuf_addf(out, "\t\t{ %u, %u, %u, %.2f, %.2f },\n", row->year_from,
			    row->cores_per_socket, row->sockets, row->memory_gib_per_core,
			    row->frequency_ghz);
	}
	strbuf_addf(out, "\t},\n\t.year_typical = %u,\n", weights->year_typical);
	add_range("year", &weights->year, 0, out);
	add_range("cores", &weights->cores, 0, out);
	add_range("sockets", &weights->sockets, 0, out);
	add_range("cores_per_socket", &weights->cores_per_socket, 1, out);
	add_range("memory_gib", &weights->memory_gib, 1, out);
	add_range("memory_gib_per_core", &weights->memory_gib_per_core, 3, out);
	add_range("frequency_ghz", &weights->frequency_ghz, 1, out);
	add_range("tdp_w", &weights->tdp_w, 0, out);
	strbuf_add_str(out, "\t.limits = {\n");
	for (size_t k = 0; k < POWER_LIMIT_CLASSES; k++) {
		const struct power_limits *row = &weights->limits[k];

		strbuf_addf(out, "\t\t{ %u, { %.3f, %.3f }, { %.3f, %.3f }, %.3f },\n",
			    row->year_from, row->idle.least, row->idle.most, row->full.least,
			    row->full.most, row->least_rise);
	}
	strbuf_add_str(out, "\t},\n");
}

void platform_text_weights(const struct platform_model *model, const struct platform_origin *origin,
			   struct strbuf *out)
{
	add_head(origin, out);
	add_offsets(&model->weights, out);
	strbuf_add_str(out, "static const struct power_model_weights weights = {\n");
	add_surfaces(&model->weights, out);
	strbuf_add_str(out, "\t.generations = generations,\n"
			    "\t.generation_count = ARRAY_SIZE(generations),\n"
			    "\t.cpus = cpus,\n"
			    "\t.cpu_count = ARRAY_SIZE(cpus),\n");
	add_bounds(&model->weights, out);
	add_population(&model->weights, out);
	strbuf_addf(out,
		    "};\n\n"
		    "const struct power_model platform_power_model = {\n"
		    "\t.name = \"%s\",\n"
		    "\t.trained_on = \"%s\",\n"
		    "\t.loo_mape_percent = %.1f,\n"
		    "\t.loo_mae_w = %.1f,\n"
		    "\t.weights = &weights,\n"
		    "};\n"
		    "/* clang-format on */\n",
		    model->model.name, model->model.trained_on, model->model.loo_mape_percent,
		    model->model.loo_mae_w);
}

/* ---- machines that do not exist ---- */

static const struct {
	const char *cpu, *vendor;
	unsigned cores, sockets;
	double memory_gib, frequency_ghz;
	unsigned year;
} made_up[] = {
	{ "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "intel", 32, 2, 200, 2.1, 2017 },
	{ "AMD EPYC 7443 24-Core Processor", "amd", 24, 1, 100, 2.85, 2021 },
	{ "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", "intel", 16, 2, 100, 2.6, 2014 },
	{ "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", "intel", 30, 2, 90, 2.3, 2014 },
	{ "Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", "intel", 4, 1, 20, 3.5, 2018 },
	{ "AMD EPYC 9654 96-Core Processor", "amd", 192, 2, 700, 2.4, 2022 },
	{ "Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", "intel", 40, 4, 300, 2.2, 2013 },
	{ "AMD EPYC 7B99 48-Core Processor", "amd", 96, 2, 300, 2.5, 2021 },
};

static double watts_at(const struct power_model *model, const struct machine_facts *facts,
		       double load)
{
	struct power_estimate power;

	power_model_estimate(model, facts, load, &power);
	return power.idle_w + power.dynamic_w;
}

void platform_text_expected(const struct power_model *model, struct strbuf *out)
{
	strbuf_add_str(out, "/* SPDX-License-Identifier: Apache-2.0 */\n"
			    "/*\n"
			    " * Written by builtin-models platform: what the model says of "
			    "made-up machines.\n"
			    " */\n"
			    "#pragma once\n"
			    "\n"
			    "/* clang-format off */\n"
			    "static const struct {\n"
			    "\tconst char *cpu, *vendor;\n"
			    "\tunsigned cores, sockets, year;\n"
			    "\tdouble memory_gib, frequency_ghz;\n"
			    "\tdouble idle_w, third_w, full_w;\n"
			    "} expected_power[] = {\n");
	for (size_t i = 0; i < ARRAY_SIZE(made_up); i++) {
		struct machine_facts facts = {
			.cores = made_up[i].cores,
			.sockets = made_up[i].sockets,
			.year = made_up[i].year,
			.memory_gib = made_up[i].memory_gib,
			.frequency_ghz = made_up[i].frequency_ghz,
		};

		(void)snprintf(facts.vendor, sizeof(facts.vendor), "%s", made_up[i].vendor);
		cpu_name_read(made_up[i].cpu, &facts.cpu);
		strbuf_addf(out,
			    "\t{ \"%s\", \"%s\",\n\t  %u, %u, %u, %g, %g, %.4f, %.4f, %.4f },\n",
			    made_up[i].cpu, facts.vendor, facts.cores, facts.sockets, facts.year,
			    facts.memory_gib, facts.frequency_ghz, watts_at(model, &facts, 0),
			    watts_at(model, &facts, 1.0 / 3), watts_at(model, &facts, 1));
	}
	strbuf_add_str(out, "};\n/* clang-format on */\n");
}
