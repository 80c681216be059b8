// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/report_output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "options/version.h"
#include "truth/machine_facts.h"
#include "verdict-report/report_folder.h"

int report_output_check(const char *folder, struct diag *diag)
{
	char inside[PATH_MAX];

	if (!*folder)
		return 0;
	int r = path_join(inside, sizeof(inside), folder, ".");
	if (r == 0 && ((mkdir(folder, 0755) < 0 && errno != EEXIST) || access(inside, W_OK) < 0))
		r = -errno;
	return r < 0 ? diag_set(diag, r, "output: %s cannot be written: %s", folder, strerror(-r))
		     : 0;
}

void report_command_line(const char *command, const struct option_args *args, struct strbuf *out)
{
	strbuf_addf(out, "kepler-validator %s", command);
	for (int i = 0; i < args->argc; i++) {
		strbuf_add_char(out, ' ');
		strbuf_add_str(out, args->argv[i]);
	}
}

int report_output_write(const char *folder, const struct result_list *results, const char *command,
			const struct option_args *args, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	struct machine_facts machine;

	if (!*folder)
		return 0;
	report_command_line(command, args, &line);
	if (strbuf_error(&line) < 0)
		return diag_set(diag, strbuf_error(&line), "out of memory");
	machine_facts_read("/sys", "/proc", &machine);
	const struct verdict_report report = {
		.results = results,
		.machine = &machine,
		.command = line.data,
		.version = KEPLER_VERSION,
		.created = time(NULL),
	};
	return report_folder_write(folder, &report, diag);
}
