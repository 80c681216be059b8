// SPDX-License-Identifier: Apache-2.0
/*
 * One table, in which the first row that fits decides. Counters stand before powers of the same
 * thing. A row gives facts of the driver's page in the kernel's Documentation/hwmon, or, for Grace,
 * of NVIDIA's tuning guide, and for HSMP of Documentation/arch/x86.
 */
#include "meter/hwmon/hwmon_rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

enum numbering {
	NUMBER_NONE,  /* there is one */
	NUMBER_FIRST, /* "0": of a chip that there is one of */
	NUMBER_LABEL, /* the number in its label */
	NUMBER_ORDER,
};

struct row {
	const char *chip, *label; /* patterns, of matches(); a label of NULL: any, or none */
	enum hwmon_reading reading;
	enum hwmon_use use;
	enum zone_kind kind;
	enum numbering numbering;
	bool has_gpus;
};

static const struct row rows[] = {
	/*
	 * acpi_power_meter.rst: power1_average over power1_average_interval. On NVIDIA Grace the
	 * firmware's text names what each one measures (Grace Performance Tuning Guide, "Power
	 * Telemetry"): a module is all of a superchip, its GPU included; Grace power is all of the
	 * CPU's side, which includes the rails CPU and SysIO. Without such a text the meter is the
	 * machine's (ACPI, 10.4), unless the firmware lists the devices that it measures.
	 */
	{ "power_meter", "Module Power Socket %", HWMON_AVERAGE, HWMON_COUNTED, ZONE_PSYS,
	  NUMBER_LABEL, .has_gpus = true },
	{ "power_meter", "Grace Power Socket %", HWMON_AVERAGE, HWMON_COUNTED, ZONE_PACKAGE,
	  NUMBER_LABEL },
	{ "power_meter", "CPU Power Socket %", HWMON_AVERAGE, HWMON_COUNTED, ZONE_CORE,
	  NUMBER_LABEL },
	{ "power_meter", "SysIO Power Socket %", HWMON_AVERAGE, HWMON_COUNTED, ZONE_UNCORE,
	  NUMBER_LABEL },
	{ "power_meter", "*ocket %", HWMON_AVERAGE, HWMON_UNKNOWN, 0, 0 },
	{ "power_meter", NULL, HWMON_AVERAGE, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },

	/*
	 * xgene-hwmon.rst, also of Ampere Altra: CPU power is the cores'. "IO power" is outside it,
	 * and no zone is made of that. A machine with two sockets has a chip of each, as devices of
	 * ACPI in the order of the sockets.
	 */
	{ "apm_xgene", "CPU power", HWMON_POWER, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_ORDER },

	/*
	 * amd_energy.rst: a socket's counter, and one of each core. zenergy is the same driver
	 * outside the kernel, for desktops as well.
	 */
	{ "amd_energy", "Esocket%", HWMON_ENERGY, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_LABEL },
	{ "amd_energy", "Ecore%", HWMON_ENERGY, HWMON_PART, 0, 0 },
	{ "zenergy", "Esocket%", HWMON_ENERGY, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_LABEL },
	{ "zenergy", "Ecore%", HWMON_ENERGY, HWMON_PART, 0, 0 },

	/*
	 * amd_hsmp.rst: the power of a socket, as its firmware reports it, with one chip for each
	 * socket, in the order of sockets: devices of ACPI, or one device with a chip for each.
	 */
	{ "amd_hsmp_hwmon", NULL, HWMON_POWER, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_ORDER },

	/* fam15h_power.rst: power of the processor, on average or now. */
	{ "fam15h_power", NULL, HWMON_AVERAGE, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_ORDER },
	{ "fam15h_power", NULL, HWMON_POWER, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_ORDER },

	/*
	 * ibmpowernv.rst: what the OCC of each POWER chip sums up, as the host sees it. Vdd and Vdn
	 * are rails of a chip, APSS the system's supply channels.
	 */
	{ "ibmpowernv", "System", HWMON_ENERGY, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },
	{ "ibmpowernv", "System", HWMON_POWER, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },
	{ "ibmpowernv", "Chip % Memory", HWMON_ENERGY, HWMON_COUNTED, ZONE_DRAM, NUMBER_LABEL },
	{ "ibmpowernv", "Chip % Memory", HWMON_POWER, HWMON_COUNTED, ZONE_DRAM, NUMBER_LABEL },
	{ "ibmpowernv", "Chip %", HWMON_ENERGY, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_LABEL },
	{ "ibmpowernv", "Chip %", HWMON_POWER, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_LABEL },
	{ "ibmpowernv", "Chip % Vdd", HWMON_ENERGY, HWMON_PART, 0, 0 },
	{ "ibmpowernv", "Chip % Vdd", HWMON_POWER, HWMON_PART, 0, 0 },
	{ "ibmpowernv", "Chip % Vdn", HWMON_ENERGY, HWMON_PART, 0, 0 },
	{ "ibmpowernv", "Chip % Vdn", HWMON_POWER, HWMON_PART, 0, 0 },
	{ "ibmpowernv", "APSS %", HWMON_ENERGY, HWMON_PART, 0, 0 },
	{ "ibmpowernv", "APSS %", HWMON_POWER, HWMON_PART, 0, 0 },

	/* occ.rst, where the OCC is asked directly; labels begin with the sensor's number. */
	{ "occ", "%_system", HWMON_POWER, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },
	{ "occ", "%_proc", HWMON_POWER, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_ORDER },
	{ "occ", "%_vdd", HWMON_POWER, HWMON_PART, 0, 0 },
	{ "occ", "%_vdn", HWMON_POWER, HWMON_PART, 0, 0 },

	/*
	 * ina3221.rst: three inputs, which the device tree names. These names are those of NVIDIA's
	 * Jetson modules; VDD_IN and POM_5V_IN are all that a module takes.
	 */
	{ "ina3221", "VDD_IN", HWMON_PRODUCT, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },
	{ "ina3221", "POM_5V_IN", HWMON_PRODUCT, HWMON_COUNTED, ZONE_PLATFORM, NUMBER_NONE },
	{ "ina3221", "VDD_CPU_CV", HWMON_PRODUCT, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_FIRST },
	{ "ina3221", "POM_5V_CPU", HWMON_PRODUCT, HWMON_COUNTED, ZONE_PACKAGE, NUMBER_FIRST },

	/*
	 * Monitors of voltage and current, hot-swap controllers and regulators: ina209.rst,
	 * ina2xx.rst, ina238.rst, ina3221.rst, ltc2945.rst, ltc2947.rst, ltc2978.rst, ltc2990.rst,
	 * ltc2991.rst, ltc2992.rst, ltc4151.rst, ltc4215.rst, ltc4260.rst, ltc4282.rst,
	 * adm1275.rst, lm25066.rst, max34440.rst, tps40422.rst, tps53679.rst, ucd9000.rst,
	 * pmbus.rst.
	 */
	{ "ina%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "ltc%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "adm1%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "lm%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "max%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "tps%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "ucd%", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },
	{ "pmbus", NULL, HWMON_READINGS, HWMON_BOARD, 0, 0 },

	/* GPUs: of meter/drm/drm.c, which knows what uses them. */
	{ "amdgpu", NULL, HWMON_READINGS, HWMON_PART, 0, 0 },
	{ "i915", NULL, HWMON_READINGS, HWMON_PART, 0, 0 },
	{ "xe", NULL, HWMON_READINGS, HWMON_PART, 0, 0 },
};

/*
 * '%' in @pattern stands for a decimal number, and *ret_number is the text of the last one; '*',
 * which may be there once, at the beginning, stands for anything.
 */
static bool matches(const char *pattern, const char *text, const char **ret_number, size_t *ret_len)
{
	if (*pattern == '*') {
		for (; *text; text++) {
			if (matches(pattern + 1, text, ret_number, ret_len))
				return true;
		}
		return false;
	}
	for (; *pattern; pattern++) {
		size_t digits = strspn(text, "0123456789");

		if (*pattern != '%' && *pattern != *text)
			return false;
		if (*pattern == '%' && !digits)
			return false;
		if (*pattern == '%') {
			*ret_number = text;
			*ret_len = digits;
		}
		text += *pattern == '%' ? digits : 1;
	}
	return *text == '\0';
}

static bool row_fits(const struct row *row, const struct hwmon_channel *channel,
		     struct hwmon_meaning *ret)
{
	const char *number = "0";
	size_t len = 1;

	if (!matches(row->chip, channel->chip, &number, &len) ||
	    (row->reading != HWMON_READINGS && !channel->has[row->reading]))
		return false;
	if (row->label && !matches(row->label, channel->label, &number, &len))
		return false;
	*ret = (struct hwmon_meaning){ .use = row->use,
				       .reading = row->reading,
				       .kind = row->kind,
				       .has_gpus = row->has_gpus,
				       .by_order = row->numbering == NUMBER_ORDER };
	if (row->kind == ZONE_PLATFORM && channel->extent == HWMON_OF_DEVICES)
		ret->use = HWMON_DEVICES;
	if (row->numbering == NUMBER_FIRST)
		return zone_instance_of_number("0", 1, ret->instance);
	return row->numbering != NUMBER_LABEL ||
	       zone_instance_of_number(number, len, ret->instance);
}

void hwmon_channel_name(const struct hwmon_channel *channel, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s%u",
		       channel->has[HWMON_ENERGY]    ? "energy"
		       : channel->has[HWMON_PRODUCT] ? "in"
						     : "power",
		       channel->number);
}

void hwmon_channel_key(const struct hwmon_channel *channel, char ret[HWMON_KEY_MAX])
{
	char name[16];

	hwmon_channel_name(channel, name, sizeof(name));
	(void)snprintf(ret, HWMON_KEY_MAX, "%s%s%s/%s", channel->chip,
		       channel->device[0] ? "@" : "", channel->device, name);
}

bool hwmon_file_parse(const char *name, enum hwmon_reading *ret_reading, bool *ret_is_current,
		      unsigned *ret_number)
{
	static const struct {
		const char *pattern;
		enum hwmon_reading reading;
		bool is_current;
	} files[] = {
		{ "energy%_input", HWMON_ENERGY, false },
		{ "power%_average", HWMON_AVERAGE, false },
		{ "power%_input", HWMON_POWER, false },
		{ "in%_input", HWMON_PRODUCT, false },
		{ "curr%_input", HWMON_PRODUCT, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *digits;
		uint64_t number;
		size_t len;

		if (!matches(files[i].pattern, name, &digits, &len))
			continue;
		if (parse_u64(digits, len, &number) < 0 || number > UINT16_MAX)
			return false;
		*ret_reading = files[i].reading;
		*ret_is_current = files[i].is_current;
		*ret_number = (unsigned)number;
		return true;
	}
	return false;
}

/* The parts of a rule, as places in its text; device_len is 0 without a device. */
struct rule_parts {
	const char *chip, *device, *channel, *zone;
	size_t chip_len, device_len, channel_len;
};

static bool rule_split(const char *rule, struct rule_parts *ret)
{
	const char *slash = strchr(rule, '/'), *equals = strrchr(rule, '=');
	const char *at = strchr(rule, '@');

	if (!slash || !equals || equals < slash)
		return false;
	if (at && at > slash)
		at = NULL;
	*ret = (struct rule_parts){
		.chip = rule,
		.chip_len = (size_t)((at ? at : slash) - rule),
		.device = at ? at + 1 : NULL,
		.device_len = at ? (size_t)(slash - at) - 1 : 0,
		.channel = slash + 1,
		.channel_len = (size_t)(equals - slash) - 1,
		.zone = equals + 1,
	};
	return ret->chip_len && ret->channel_len && (!at || ret->device_len);
}

/*
 * "none", a kind, or KIND-NUMBER. No device: nothing here would say what used it, and by CPU time
 * its energy would go to the wrong processes.
 */
static bool zone_parse(const char *text, struct hwmon_meaning *ret)
{
	*ret = (struct hwmon_meaning){ .use = HWMON_UNUSED };
	if (strcmp(text, "none") == 0)
		return true;
	ret->use = HWMON_COUNTED;
	if (!zone_id_parse(text, strlen(text), &ret->kind, ret->instance))
		return false;
	ret->by_order = !ret->instance[0] && !zone_kind_info[ret->kind].is_whole;
	return true;
}

static bool is_text(const char *part, size_t len, const char *text)
{
	return strlen(text) == len && strncmp(part, text, len) == 0;
}

static bool rule_fits(const char *rule, const struct hwmon_channel *channel,
		      struct hwmon_meaning *ret)
{
	struct rule_parts parts;
	char name[16];

	hwmon_channel_name(channel, name, sizeof(name));
	if (!rule_split(rule, &parts) || !is_text(parts.chip, parts.chip_len, channel->chip) ||
	    (parts.device && !is_text(parts.device, parts.device_len, channel->device)) ||
	    !(is_text(parts.channel, parts.channel_len, name) ||
	      is_text(parts.channel, parts.channel_len, channel->label)) ||
	    !zone_parse(parts.zone, ret))
		return false;
	while (!channel->has[ret->reading])
		ret->reading++;
	return true;
}

struct hwmon_meaning hwmon_meaning_of(const struct hwmon_channel *channel, char *const *rules,
				      size_t rule_count)
{
	struct hwmon_meaning meaning;

	for (size_t i = 0; i < rule_count; i++) {
		if (rule_fits(rules[i], channel, &meaning))
			return meaning;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (row_fits(&rows[i], channel, &meaning))
			return meaning;
	}
	return (struct hwmon_meaning){ .use = HWMON_UNKNOWN };
}

int hwmon_rule_check(const char *rule, struct diag *diag)
{
	struct hwmon_meaning meaning;
	struct rule_parts parts;

	if (!rule_split(rule, &parts))
		return diag_set(diag, -EINVAL,
				"must be CHIP[@DEVICE]/CHANNEL=ZONE, such as "
				"ina226@1-0040/power1=platform");
	if (!zone_parse(parts.zone, &meaning))
		return diag_set(diag, -EINVAL,
				"\"%.60s\" is not a zone; use package-0, dram-1, psys, platform or "
				"none, for example",
				parts.zone);
	return 0;
}
