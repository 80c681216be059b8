// SPDX-License-Identifier: Apache-2.0
#include "kepler/vm_energy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/ascii.h"
#include "config/config.h"
#include "options/program.h"
#include "passthrough/passthrough_text.h"
#include "passthrough/passthrough_xml.h"

#define PERIODS_MAX 10 /* an older report is outdated: the exporter has ended */

struct vm_energy_config {
	struct config config;
	char *uuid;
	bool xml;
};

static const struct option own_rows[] = {
	TEXT_FLAG("uuid", .offset = offsetof(struct vm_energy_config, uuid), "", "UUID",
		  "The virtual machine: its UUID, or the name of its directory in passthrough.dir. "
		  "Required."),
	SWITCH_FLAG("xml", .offset = offsetof(struct vm_energy_config, xml),
		    "Print the elements of XML that an action of vhostmd has to print."),
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set vm_energy_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct vm_energy_config),
	.check = config_check,
};

/* "joules 12.345678", exactly. */
static void print_joules(uint64_t energy_uj)
{
	(void)printf("%llu.%06llu", (unsigned long long)(energy_uj / UJ_PER_J),
		     (unsigned long long)(energy_uj % UJ_PER_J));
}

static void print_xml(const struct passthrough_record *record)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	passthrough_xml_write_energies(record, &text);
	if (strbuf_error(&text) == 0)
		(void)fputs(text.data, stdout);
}

static void print_text(const struct passthrough_record *record)
{
	for (size_t i = 0; i < record->zone_count; i++) {
		const struct passthrough_zone *zone = &record->zones[i];

		(void)printf("%s %s dynamic ", zone_kind_name(zone->kind),
			     zone_quality_name(zone->quality));
		print_joules(zone->dynamic_uj);
		(void)fputs(" idle ", stdout);
		print_joules(zone->idle_uj);
		(void)putchar('\n');
	}
}

/* A directory's name cannot lead out of passthrough.dir. */
static bool is_name(const char *text)
{
	if (!*text || *text == '.')
		return false;
	for (; *text; text++) {
		if (!ascii_is_alnum(*text) && !strchr("-_.@", *text))
			return false;
	}
	return true;
}

static int read_record(const char *folder, const char *uuid, struct passthrough_record *ret,
		       struct diag *diag)
{
	CLEANUP_FREE char *path = NULL;
	char text[PASSTHROUGH_TEXT_MAX + 1];
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	ssize_t len;
	int r;

	if (asprintf(&path, "%s/%s/energy", folder, uuid) < 0) {
		path = NULL;
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	len = read_regular_file(path, text, sizeof(text));
	if (len == -ENOTSUP)
		return diag_set(diag, -ENOTSUP,
				"%s: not a regular file; the virtual machine may have replaced it",
				path);
	if (len < 0)
		return diag_set(diag, (int)len, "%s: %s", path, strerrordesc_np((int)-len));
	r = passthrough_text_read(text, (size_t)len, ret, diag);
	if (r < 0)
		return r;
	if (now_ns > ret->realtime_ns &&
	    (now_ns - ret->realtime_ns) / NSEC_PER_MSEC / PERIODS_MAX > ret->period_ms)
		return diag_set(diag, -ESTALE, "%s: outdated; is kepler run running?", path);
	return 0;
}

static int report(const struct vm_energy_config *config)
{
	const char *folder = config->config.push.passthrough.dir;
	struct passthrough_record record = { 0 };
	struct diag diag = { "" };

	if (!*folder) {
		(void)fputs("kepler: passthrough.dir is not set: give it here, or in the "
			    "configuration file\n",
			    stderr);
		return VM_ENERGY_EXIT_USAGE;
	}
	if (!is_name(config->uuid)) {
		(void)fputs("kepler: --uuid must be the UUID of a virtual machine\n", stderr);
		return VM_ENERGY_EXIT_USAGE;
	}
	if (read_record(folder, config->uuid, &record, &diag) < 0) {
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
		return VM_ENERGY_EXIT_NONE;
	}
	if (config->xml)
		print_xml(&record);
	else
		print_text(&record);
	return fflush(stdout) == 0 ? 0 : VM_ENERGY_EXIT_NONE;
}

int vm_energy_main(int argc, char *const *argv, char *const *environ_)
{
	struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct vm_energy_config config = { .xml = false };
	int status;

	if (options_load_or_print(&vm_energy_options, &args, &config.config.options, stderr) < 0)
		return VM_ENERGY_EXIT_USAGE;
	status = report(&config);
	options_release(&vm_energy_options, &config.config.options);
	return status;
}
