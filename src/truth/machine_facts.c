// SPDX-License-Identifier: Apache-2.0
#include "truth/machine_facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

#define CPUINFO_MAX     (256 << 10) /* the first processors are enough */
#define IDLE_STATES_MAX 16

__attribute__((format(printf, 3, 4))) static void
add_fact(struct machine_facts *facts, const char *name, const char *format, ...)
{
	va_list args;

	if (facts->count == MACHINE_FACTS_MAX)
		return;
	struct machine_fact *fact = &facts->items[facts->count++];
	fact->name = name;
	va_start(args, format);
	(void)vsnprintf(fact->value, sizeof(fact->value), format, args);
	va_end(args);
}

/* A file of one line; false if there is none, or nothing in it. */
static bool read_line(const char *root, const char *path, char *buf, size_t size)
{
	char whole[PATH_MAX];

	if (path_join(whole, sizeof(whole), root, path) < 0 ||
	    read_file_at(AT_FDCWD, whole, buf, size) <= 0)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return *buf != '\0';
}

static void add_line(struct machine_facts *facts, const char *name, const char *root,
		     const char *path)
{
	char line[MACHINE_FACT_MAX];

	if (read_line(root, path, line, sizeof(line)))
		add_fact(facts, name, "%s", line);
}

/* The value of the first line "KEY : VALUE" of a text such as /proc/cpuinfo. */
static void add_field(struct machine_facts *facts, const char *name, const char *text,
		      const char *key)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
		if (at != text && at[-1] != '\n')
			continue;
		const char *value = at + strlen(key);
		value += strspn(value, " \t");
		if (*value != ':')
			continue;
		value++;
		value += strspn(value, " \t");
		add_fact(facts, name, "%.*s", (int)strcspn(value, "\n"), value);
		return;
	}
}

static void add_text_fields(struct machine_facts *facts, const char *procfs)
{
	CLEANUP_FREE char *text = calloc(1, CPUINFO_MAX);
	char path[PATH_MAX];

	if (!text)
		return;
	if (path_join(path, sizeof(path), procfs, "cpuinfo") == 0 &&
	    read_file_at(AT_FDCWD, path, text, CPUINFO_MAX) != 0) {
		add_field(facts, "processor", text, "model name");
		add_field(facts, "microcode", text, "microcode");
	}
	memset(text, 0, CPUINFO_MAX);
	if (path_join(path, sizeof(path), procfs, "meminfo") == 0 &&
	    read_file_at(AT_FDCWD, path, text, CPUINFO_MAX) > 0)
		add_field(facts, "memory", text, "MemTotal");
}

/* Names of the first processor's idle states: without one, power at idle differs. */
static void add_idle_states(struct machine_facts *facts, const char *sysfs)
{
	char names[MACHINE_FACT_MAX] = "", path[64], name[32];
	size_t len = 0;

	for (unsigned state = 0; state < IDLE_STATES_MAX; state++) {
		(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu0/cpuidle/state%u/name",
			       state);
		if (!read_line(sysfs, path, name, sizeof(name)))
			break;
		if (len + strlen(name) + 2 >= sizeof(names))
			break;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "",
					name);
	}
	if (len > 0)
		add_fact(facts, "idle states", "%s", names);
}

void machine_facts_read(const char *sysfs, const char *procfs, struct machine_facts *ret)
{
	struct utsname name;

	ret->count = 0;
	add_text_fields(ret, procfs);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus > 0)
		add_fact(ret, "CPUs", "%ld", cpus);
	if (uname(&name) == 0) {
		add_fact(ret, "kernel", "%s %s", name.sysname, name.release);
		add_fact(ret, "architecture", "%s", name.machine);
	}
	add_line(ret, "frequency driver", sysfs, "devices/system/cpu/cpu0/cpufreq/scaling_driver");
	add_line(ret, "frequency governor", sysfs,
		 "devices/system/cpu/cpu0/cpufreq/scaling_governor");
	add_line(ret, "idle driver", sysfs, "devices/system/cpu/cpuidle/current_driver");
	add_idle_states(ret, sysfs);
	add_line(ret, "SMT", sysfs, "devices/system/cpu/smt/control");
	add_line(ret, "machine", sysfs, "class/dmi/id/product_name");
}
