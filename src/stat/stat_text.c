// SPDX-License-Identifier: Apache-2.0
/*
 * The text has a line per quantity as `perf stat` has it: value, unit and name first, then what it
 * means after "#". Scripts that read those three columns keep working.
 */
#include "stat/stat_text.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define SHOWN_COMMANDS 8

double stat_result_joules(const struct stat_result *result)
{
	return stat_reading_joules(&result->reading, result->with_idle);
}

bool stat_result_is_over(const struct stat_result *result)
{
	return result->budget_joules > 0 && stat_result_joules(result) > result->budget_joules;
}

void stat_add_value(struct strbuf *out, double value)
{
	strbuf_addf(out, "%.*f", value < 10 && value > -10 ? 6 : 3, value);
}

void stat_add_clean(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_add_char(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void add_line(struct strbuf *out, double value, const char *unit, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf number = STRBUF_INIT;

	stat_add_value(&number, value);
	strbuf_addf(out, "%18s %-5s %-24s", number.data ? number.data : "", unit, name);
}

static void end_line(struct strbuf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_add_char(out, '\n');
}

static double per(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void add_total(struct strbuf *out, const struct stat_result *result)
{
	double joules = stat_result_joules(result), error = stat_reading_error(&result->reading);

	add_line(out, joules, "J", "total");
	strbuf_addf(out, " # %.3f W on average", per(joules, result->elapsed_seconds));
	if (error > 0)
		strbuf_addf(out, ", +- %.1f %%", 100 * per(error, joules));
	if (stat_reading_is_estimated(&result->reading))
		strbuf_add_str(out, ", estimated");
	end_line(out);
}

static void add_zones(struct strbuf *out, const struct stat_result *result)
{
	for (size_t i = 0; i < result->reading.zone_count; i++) {
		const struct stat_zone *zone = &result->reading.zones[i];
		char name[40];

		if (zone->is_idle && !result->with_idle)
			continue;
		(void)snprintf(name, sizeof(name), "%s/%s", zone->zone, zone->mode);
		add_line(out, zone->joules, "J", name);
		strbuf_addf(out, " # %s", zone->is_estimated ? "estimated" : "measured");
		if (zone->is_of_node)
			strbuf_add_str(out, ", of the whole machine");
		if (!zone->in_total)
			strbuf_add_str(out, ", part of another zone");
		if (zone->is_late)
			strbuf_add_str(out, ", incomplete: the meter is late");
		end_line(out);
	}
}

static void add_work(struct strbuf *out, const struct stat_result *result)
{
	const struct stat_reading *reading = &result->reading;

	add_line(out, result->elapsed_seconds, "s", "elapsed");
	end_line(out);
	add_line(out, reading->cpu_seconds, "s", "cpu");
	strbuf_addf(out, " # %.2f CPUs used", per(reading->cpu_seconds, result->elapsed_seconds));
	end_line(out);
	strbuf_addf(out, "%18u %-5s %-24s # %u were too short for two readings\n",
		    reading->processes, "", "processes", reading->short_processes);
	add_line(out, result->overhead_seconds, "s", "overhead");
	strbuf_addf(out, " # CPU time of the measurement, %.2f %% of the command's",
		    100 * per(result->overhead_seconds, reading->cpu_seconds));
	end_line(out);
}

static void add_commands(struct strbuf *out, const struct stat_result *result)
{
	const struct stat_reading *reading = &result->reading;
	double all = 0;

	for (size_t i = 0; i < reading->command_count; i++)
		all += reading->commands[i].joules;
	if (reading->command_count > 1)
		strbuf_add_char(out, '\n');
	for (size_t i = 0; i < reading->command_count && reading->command_count > 1; i++) {
		const struct stat_command *command = &reading->commands[i];

		if (i == SHOWN_COMMANDS) {
			strbuf_addf(out, "%18s ...   %zu more commands\n", "",
				    reading->command_count - i);
			break;
		}
		add_line(out, command->joules, "J", command->command);
		strbuf_addf(out, " # %.1f %%, %u process%s", 100 * per(command->joules, all),
			    command->processes, command->processes == 1 ? "" : "es");
		end_line(out);
	}
}

static void add_left(struct strbuf *out, const struct stat_reading *reading)
{
	if (!reading->left_count)
		return;
	strbuf_addf(out, "\n %u process%s of the command still run%s:", reading->left_count,
		    reading->left_count == 1 ? "" : "es", reading->left_count == 1 ? "s" : "");
	for (size_t i = 0; i < reading->left_named; i++)
		strbuf_addf(out, "%s %s (pid %u)", i ? "," : "", reading->left[i].command,
			    reading->left[i].pid);
	strbuf_add_str(out, reading->left_count > reading->left_named ? ", ...\n" : "\n");
}

void stat_text(const struct stat_result *result, struct strbuf *out)
{
	strbuf_add_str(out, "\n Energy of '");
	stat_add_clean(out, result->command);
	strbuf_add_str(out, "':\n\n");
	add_total(out, result);
	stat_cost_text(&result->reading.rates, stat_result_joules(result),
		       stat_reading_is_estimated(&result->reading), out);
	add_zones(out, result);
	strbuf_add_char(out, '\n');
	add_work(out, result);
	add_commands(out, result);
	add_left(out, &result->reading);
	if (result->reading.missed)
		strbuf_addf(out,
			    "\n %u processes could not be assigned to a parent; what they used may "
			    "be missing here.\n",
			    result->reading.missed);
	if (result->missing_seconds > 0)
		strbuf_addf(out,
			    "\n %.3f s of CPU time and their energy are missing here: the kernel "
			    "has not reported them in time.\n",
			    result->missing_seconds);
	if (result->budget_joules > 0)
		strbuf_addf(out, "\n %s the budget of %.6g J\n",
			    stat_result_is_over(result) ? "over" : "within", result->budget_joules);
	strbuf_add_char(out, '\n');
}

static void add_json_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, "\"%s\":\"", key);
	strbuf_add_json(out, text);
	strbuf_add_char(out, '"');
}

static void add_json_zones(const struct stat_result *result, struct strbuf *out)
{
	bool any = false;

	strbuf_add_str(out, ",\n \"zones\":[");
	for (size_t i = 0; i < result->reading.zone_count; i++) {
		const struct stat_zone *zone = &result->reading.zones[i];

		if (zone->is_idle && !result->with_idle)
			continue;
		strbuf_add_str(out, any ? ",\n  {" : "\n  {");
		any = true;
		add_json_text(out, "zone", zone->zone);
		strbuf_add_char(out, ',');
		add_json_text(out, "mode", zone->mode);
		strbuf_addf(out, ",\"joules\":%.6f,\"quality\":\"%s\",", zone->joules,
			    zone->is_estimated ? "estimated" : "measured");
		add_json_text(out, "source", zone->source);
		strbuf_addf(out, ",\"in_total\":%s,\"of_node\":%s,\"incomplete\":%s}",
			    zone->in_total ? "true" : "false", zone->is_of_node ? "true" : "false",
			    zone->is_late ? "true" : "false");
	}
	strbuf_add_str(out, "]");
}

static void add_json_commands(const struct stat_reading *reading, struct strbuf *out)
{
	strbuf_add_str(out, ",\n \"commands\":[");
	for (size_t i = 0; i < reading->command_count; i++) {
		const struct stat_command *command = &reading->commands[i];

		strbuf_add_str(out, i ? ",\n  {" : "\n  {");
		add_json_text(out, "command", command->command);
		strbuf_addf(out, ",\"joules\":%.6f,\"cpu_seconds\":%.6f,\"processes\":%u}",
			    command->joules, command->cpu_seconds, command->processes);
	}
	strbuf_add_str(out, "],\n \"left\":[");
	for (size_t i = 0; i < reading->left_named; i++) {
		strbuf_addf(out, "%s{\"pid\":%u,", i ? "," : "", reading->left[i].pid);
		add_json_text(out, "command", reading->left[i].command);
		strbuf_add_char(out, '}');
	}
	strbuf_addf(out, "],\"left_count\":%u", reading->left_count);
}

void stat_json_members(const struct stat_result *result, struct strbuf *out)
{
	double error = stat_reading_error(&result->reading);

	add_json_text(out, "command", result->command);
	strbuf_addf(out,
		    ",\n \"exit_status\":%d,\"elapsed_seconds\":%.6f,\"cpu_seconds\":%.6f,"
		    "\"joules\":%.6f,",
		    result->exit_status, result->elapsed_seconds, result->reading.cpu_seconds,
		    stat_result_joules(result));
	if (error > 0)
		strbuf_addf(out, "\"error_joules\":%.6f,", error);
	else
		strbuf_add_str(out, "\"error_joules\":null,");
	strbuf_addf(out, "\"estimated\":%s,\"idle\":\"%s\"",
		    stat_reading_is_estimated(&result->reading) ? "true" : "false",
		    result->with_idle ? "include" : "exclude");
	strbuf_addf(out,
		    ",\n \"processes\":%u,\"short_processes\":%u,\"missed_processes\":%u,"
		    "\"missing_cpu_seconds\":%.6f,\"overhead_seconds\":%.6f",
		    result->reading.processes, result->reading.short_processes,
		    result->reading.missed, result->missing_seconds, result->overhead_seconds);
	stat_cost_json(&result->reading.rates, stat_result_joules(result), out);
	if (result->budget_joules > 0)
		strbuf_addf(out, ",\n \"budget_joules\":%.6f,\"budget\":\"%s\"",
			    result->budget_joules, stat_result_is_over(result) ? "over" : "within");
	add_json_zones(result, out);
	add_json_commands(&result->reading, out);
}

/* A cell of a table: "|" would end it. */
static void add_cell(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '`');
	for (; *text; text++) {
		if (*text == '|')
			strbuf_add_str(out, "\\|");
		else
			strbuf_add_char(out,
					(unsigned char)*text < ' ' || *text == 0x7f || *text == '`'
						? '?'
						: *text);
	}
	strbuf_add_char(out, '`');
}

void stat_markdown(const struct stat_result *result, struct strbuf *out)
{
	const struct stat_reading *reading = &result->reading;
	double joules = stat_result_joules(result), error = stat_reading_error(reading);

	strbuf_add_str(out, "| energy of ");
	add_cell(out, result->command);
	strbuf_add_str(out, " | |\n|---|---:|\n| total | ");
	stat_add_value(out, joules);
	strbuf_add_str(out, " J");
	if (error > 0)
		strbuf_addf(out, " ± %.1f %%", 100 * per(error, joules));
	strbuf_addf(out, "%s |\n", stat_reading_is_estimated(reading) ? ", estimated" : "");
	stat_cost_markdown(&reading->rates, joules, stat_reading_is_estimated(reading), out);
	for (size_t i = 0; i < reading->zone_count; i++) {
		const struct stat_zone *zone = &reading->zones[i];

		if (zone->is_idle && !result->with_idle)
			continue;
		strbuf_addf(out, "| %s, %s | ", zone->zone, zone->mode);
		stat_add_value(out, zone->joules);
		strbuf_add_str(out, " J |\n");
	}
	strbuf_addf(out, "| mean power | %.3f W |\n| elapsed | %.3f s |\n| CPU time | %.3f s |\n",
		    per(joules, result->elapsed_seconds), result->elapsed_seconds,
		    reading->cpu_seconds);
	strbuf_addf(out, "| processes | %u |\n", reading->processes);
	for (size_t i = 0; i < reading->command_count && i < SHOWN_COMMANDS; i++) {
		strbuf_add_str(out, "| of ");
		add_cell(out, reading->commands[i].command);
		strbuf_add_str(out, " | ");
		stat_add_value(out, reading->commands[i].joules);
		strbuf_add_str(out, " J |\n");
	}
	if (result->budget_joules > 0)
		strbuf_addf(out, "| budget of %.6g J | **%s** |\n", result->budget_joules,
			    stat_result_is_over(result) ? "over" : "within");
}
