// SPDX-License-Identifier: Apache-2.0
#include "modelling/model_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "options/layers.h"
#include "options/program.h"

int model_command_run(const struct model_command *command, int argc, char *const *argv,
		      char *const *environ_)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	CLEANUP_FREE struct settings *settings = calloc(1, command->set->size);
	struct diag diag = { .more = &more };
	struct operands operands;
	char program[64];
	bool is_wrong;
	int status;

	if (!settings) {
		(void)diag_set(&diag, -ENOMEM, "out of memory");
		return settings_fail(&diag);
	}
	status = settings_read(command->set, command->shorts, argc, argv, environ_, settings,
			       &operands);
	if (status != 0)
		return status;
	if (operands.count < command->min || operands.count > command->max)
		status = PROGRAM_WRONG_WORDS;
	else
		status = command->run(settings, &operands, &diag);
	is_wrong = status == PROGRAM_WRONG_WORDS && !diag.text[0];
	(void)snprintf(program, sizeof(program), "kepler-model%s%s", command->name ? " " : "",
		       command->name ? command->name : "");
	if (status < 0 && diag.text[0])
		diag_print(&diag, program, stderr);
	operands_release(&operands);
	options_release(command->set, &settings->options);
	return status >= 0 || is_wrong ? status : EXIT_FAILURE;
}
