// SPDX-License-Identifier: Apache-2.0
#include "modelling/security_options.h"

#include <stddef.h>
#include <unistd.h>

#include "base/log.h"
#include "service/run_as.h"

const struct option security_rows_of_options[SECURITY_OPTION_COUNT] = {
	{ "security.user", NULL, OPTION_STRING, .offset = offsetof(struct security_values, user),
	  .default_text = "", .metavar = "NAME", .may_be_empty = true,
	  .help = "User to switch to if started as root. Files and sockets must be accessible to "
		  "that user. Empty: do not switch. All capabilities are dropped in either case." },
};

int security_enter(const struct security_values *values, struct diag *diag)
{
	struct diag why = { "" };
	int r = run_as(values->user, &why);

	if (r < 0)
		return diag_set(diag, r, "security.user: %s", why.text);
	if (geteuid() == 0)
		log_warn("this is the user root, without its capabilities: it needs none of root's "
			 "files, and security.user can name another user");
	return 0;
}
