// SPDX-License-Identifier: Apache-2.0
/*
 * The load of a row is its CPU time as a share of all logical CPUs, or its cycles as a share of
 * those that the CPUs have at full load, if that is more: in these files CPU time lags behind what
 * ran, by as much as 100 GHz of cycles in a second of it. Rows in which the cores were held below
 * their nominal frequency are left out (nx12).
 */
#include "tools/builtin-models/components.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "samples/sample_input.h"
#include "tools/builtin-models/component_fit.h"

#define NAME         "rapl-components-1"
#define PATH_SIZE    4096
#define WEIGHTS_MODE 0644

static const char *const component_names[COMPONENT_COUNT] = { "package", "dram" };

/*
 * Facts of the machines: cores and memory as their node types have them, nominal frequency as the
 * vendor gives it. The memory of nx12 is not in the data; 128 GiB is a guess.
 */
static const struct source_machine {
	const char *name, *files; /* %s: the component */
	const char *cpu;
	unsigned cores, threads, sockets;
	double frequency_ghz, memory_gib;
	double full_ghz; /* of each busy logical CPU at full load, from cycles and CPU time */
	const char *time;
	double time_ms; /* of a unit of its column */
	bool is_capped; /* some rows are of a lower highest frequency */
} machines[] = {
	{ "c5.metal", "ec2/ec2_c5.metal_Basic_%s.csv",
	  "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", 48, 96, 2, 3.0, 188, 3.33,
	  "bpf_cpu_time_ms", 1, false },
	{ "m5.metal", "ec2/ec2_m5.metal_Basic_%s.csv",
	  "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 48, 96, 2, 2.5, 377, 3.10,
	  "bpf_cpu_time_ms", 1, false },
	{ "r5.metal", "ec2/ec2_r5.metal_Basic_%s.csv",
	  "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 48, 96, 2, 2.5, 755, 3.10,
	  "bpf_cpu_time_ms", 1, false },
	{ "m7i.metal-24xl", "ec2/ec2_m7i.metal-24xl_Basic_%s.csv",
	  "Intel(R) Xeon(R) Platinum 8488C", 48, 96, 1, 2.4, 377, 3.20, "bpf_cpu_time_ms", 1,
	  false },
	/* The column is named after µs and has ms. */
	{ "nx12", "nx12/preprocess_abs_default_rapl_Basic.csv",
	  "Intel(R) Xeon(R) CPU E5-2667 v3 @ 3.20GHz", 16, 32, 2, 3.2, 128, 3.5, "bpf_cpu_time_us",
	  1, true },
};

struct built_components {
	struct component_machine machines[ARRAY_SIZE(machines)];
	struct component_fit fit;
};

static void built_components_release(struct built_components *built)
{
	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		for (size_t c = 0; c < COMPONENT_COUNT; c++)
			free(built->machines[m].rows[c]);
	}
}

/*
 * Returns true if the cores were below their nominal frequency. Up to half of the logical CPUs, a
 * core has one busy thread; cycles of two threads are halved in this file.
 */
static bool is_held_low(const struct source_machine *machine, double busy, double cycles)
{
	double ghz = cycles / 1e9 / machine->threads / fmin(busy, 0.5);

	return machine->is_capped && busy > 0.02 && ghz < machine->frequency_ghz;
}

static void take_rows(const struct source_machine *machine, const double *time,
		      const double *cycles, const double *watts, size_t count,
		      struct component_row *rows, size_t *ret_count)
{
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		double busy = time[i] * machine->time_ms / 1000 / machine->threads;
		double load = fmax(busy, cycles[i] / 1e9 / machine->threads / machine->full_ghz);

		/* 0 W is a reading that failed. */
		if (!isfinite(load) || !(watts[i] > 0) || is_held_low(machine, busy, cycles[i]))
			continue;
		rows[taken++] = (struct component_row){ fmin(load, 1), watts[i] };
	}
	*ret_count = taken;
}

static int take_table(const struct source_machine *machine, const struct sample_table *table,
		      const char *path, size_t c, struct component_machine *ret, struct diag *diag)
{
	size_t time = sample_table_find(table, machine->time);
	size_t cycles = sample_table_find(table, "cpu_cycles");
	char power[32];
	size_t watts;

	(void)snprintf(power, sizeof(power), "%s_power", component_names[c]);
	watts = sample_table_find(table, power);
	if (time == SAMPLE_COLUMN_NONE || cycles == SAMPLE_COLUMN_NONE ||
	    watts == SAMPLE_COLUMN_NONE)
		return diag_set(diag, -EINVAL, "%s: the columns %s, cpu_cycles and %s are needed",
				path, machine->time, power);
	ret->rows[c] = calloc(table->rows + 1, sizeof(*ret->rows[c]));
	if (!ret->rows[c])
		return diag_set(diag, -ENOMEM, "out of memory");
	take_rows(machine, table->columns[time], table->columns[cycles], table->columns[watts],
		  table->rows, ret->rows[c], &ret->row_count[c]);
	return 0;
}

static int read_component(const struct source_machine *machine, const char *folder, size_t c,
			  struct component_machine *ret, struct diag *diag)
{
	const char *hole = strstr(machine->files, "%s");
	CLEANUP(sample_table_release) struct sample_table table = { 0 };
	char path[PATH_SIZE];
	int r;

	(void)snprintf(path, sizeof(path), "%s/%.*s%s%s", folder,
		       (int)(hole ? (size_t)(hole - machine->files) : strlen(machine->files)),
		       machine->files, hole ? component_names[c] : "", hole ? hole + 2 : "");
	r = sample_input_read(path, &table, diag);
	return r < 0 ? r : take_table(machine, &table, path, c, ret, diag);
}

static int read_machine(const struct source_machine *machine, const char *folder,
			struct component_machine *ret, struct diag *diag)
{
	int r = 0;

	ret->name = machine->name;
	ret->facts = (struct machine_facts){
		.vendor = "intel",
		.cores = machine->cores,
		.threads = machine->threads,
		.sockets = machine->sockets,
		.frequency_ghz = machine->frequency_ghz,
		.memory_gib = machine->memory_gib,
	};
	cpu_name_read(machine->cpu, &ret->facts.cpu);
	for (size_t c = 0; c < COMPONENT_COUNT && r == 0; c++)
		r = read_component(machine, folder, c, ret, diag);
	return r;
}

static void print_error(const char *name, const struct component_error *error, struct strbuf *out)
{
	strbuf_addf(out, "%-16s %6.1f W %6.1f %%  %+5.0f %+5.0f %+5.0f %%  %5.1f %%", name,
		    error->mae_w, error->mape_percent, error->idle_percent, error->half_percent,
		    error->full_percent, error->covered * 100);
}

/* Each line begins with @prefix. */
static void print_errors(const struct built_components *built, const char *prefix,
			 struct strbuf *out)
{
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		strbuf_addf(out,
			    "%s%s: mean error over levels; idle, half, full load; rows within "
			    "the bound\n",
			    prefix, component_names[c]);
		for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
			strbuf_addf(out, "%s  ", prefix);
			print_error(machines[m].name, &built->fit.held_out[m][c], out);
			strbuf_add_char(out, '\n');
		}
		strbuf_addf(out, "%s  ", prefix);
		print_error("mean (absolute)", &built->fit.mean[c], out);
		strbuf_add_char(out, '\n');
	}
}

static void print_levels(const char *name, const double levels[][COMPONENT_LEVELS],
			 struct strbuf *out)
{
	strbuf_addf(out, "\t.%s = {\n", name);
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		strbuf_add_str(out, "\t\t{");
		for (size_t l = 0; l < COMPONENT_LEVELS; l++)
			strbuf_addf(out, "%s%.6g", l ? ", " : " ", levels[c][l]);
		strbuf_add_str(out, " },\n");
	}
	strbuf_add_str(out, "\t},\n");
}

static void print_source(const struct built_components *built, struct strbuf *out)
{
	const struct component_fit *fit = &built->fit;

	strbuf_add_str(out, "// SPDX-License-Identifier: Apache-2.0\n/*\n"
			    " * Written by \"builtin-models components\"; do not edit. "
			    "Fitted weights, our own.\n *\n"
			    " * Fitted to RAPL readings of nx12 and of four bare-metal machines of "
			    "EC2. Errors of machines that\n"
			    " * were held out, with all others of their CPU model:\n");
	print_errors(built, " * ", out);
	strbuf_add_str(out, " */\n#include \"model/component_power.h\"\n\n/* clang-format off */\n"
			    "static const struct component_weights weights = {\n");
	print_levels("share", fit->weights.share, out);
	print_levels("spread", fit->weights.spread, out);
	strbuf_addf(out,
		    "};\n/* clang-format on */\n\n"
		    "const struct component_model builtin_component_model = {\n"
		    "\t.name = \"%s\",\n"
		    "\t.trained_on = \"RAPL readings of %zu machines\",\n"
		    "\t.mape_percent = { %.1f, %.1f },\n"
		    "\t.mae_w = { %.1f, %.1f },\n"
		    "\t.weights = &weights,\n};\n",
		    NAME, ARRAY_SIZE(machines), fit->mean[COMPONENT_PACKAGE].mape_percent,
		    fit->mean[COMPONENT_DRAM].mape_percent, fit->mean[COMPONENT_PACKAGE].mae_w,
		    fit->mean[COMPONENT_DRAM].mae_w);
}

static int write_source(const struct built_components *built, const char *path, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf source = STRBUF_INIT;
	int r;

	print_source(built, &source);
	if (source.failed)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = write_output_file(path, source.data, source.len, WEIGHTS_MODE);
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}

static int build(struct built_components *built, const char *path, struct diag *diag)
{
	int r = 0;

	for (size_t m = 0; m < ARRAY_SIZE(machines) && r == 0; m++)
		r = read_machine(&machines[m], path, &built->machines[m], diag);
	return r < 0 ? r
		     : component_fit(built->machines, ARRAY_SIZE(machines), &platform_power_model,
				     &built->fit, diag);
}

int builtin_components_train(const struct builtin_config *config, const char *path,
			     struct strbuf *out, struct diag *diag)
{
	CLEANUP(built_components_release) struct built_components built = { 0 };
	int r = build(&built, path, diag);

	if (r < 0)
		return r;
	print_errors(&built, "", out);
	return config->write[0] ? write_source(&built, config->write, diag) : 0;
}
