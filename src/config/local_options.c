// SPDX-License-Identifier: Apache-2.0
#include "config/local_options.h"

#include "base/macro.h"
#include "config/option_rows.h"
#include "net/http_unix.h"

static int check_socket(const char *text, struct diag *diag)
{
	return *text ? http_unix_check(text, diag) : 0;
}

static const struct option_choice everyone_sees[] = {
	{ "none", EVERYONE_NONE }, { "own", EVERYONE_OWN }, { "all", EVERYONE_ALL }, { 0 }
};

static const struct option rows[] = {
	{ "local.socket", NULL, OPTION_STRING, FIELD(local_options, socket),
	  .default_text = LOCAL_SOCKET_DEFAULT, .metavar = "PATH", .may_be_empty = true,
	  .check = check_socket,
	  .help = "Unix socket for users of this machine, with the same pages as the web server, "
		  "without TLS and tokens. Root and the members of local.group see everything. "
		  "Empty: none." },
	{ "local.group", NULL, OPTION_STRING, FIELD(local_options, group),
	  .default_text = LOCAL_GROUP_DEFAULT, .metavar = "GROUP", .may_be_empty = true,
	  .help = "Group whose members can connect to local.socket and see everything, by name or "
		  "number. The default counts only if it exists." },
	{ "local.everyone", NULL, OPTION_ENUM, FIELD(local_options, everyone),
	  .choices = everyone_sees, .default_text = "none", .metavar = "WHAT",
	  .help = "What all other users see at local.socket: none; own: the power of the machine "
		  "and of their own processes, in steps of 1 mW and 1 mJ; all: everything." },
};

const struct option_section *local_options_at(size_t index)
{
	static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

	return index < ARRAY_SIZE(sections) ? &sections[index] : NULL;
}
