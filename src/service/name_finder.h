/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that looks up the names of this machine (host/address_names.h) and ends. Look-ups load
 * modules, open sockets and may wait for name servers: all of that happens outside the program,
 * which is confined meanwhile and reads the names from a pipe without waiting. The process
 * ends after NAME_FINDER_LIMIT_S at the latest, and with the program. It has no capability.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "host/address_names.h"

#define NAME_FINDER_LIMIT_S  30
#define NAME_FINDER_NAME_MAX 253

struct name_finder {
	int fd; /* of the pipe; -1: not started, or at its end */
	char line[NAME_FINDER_NAME_MAX + 1];
	size_t len;
};

#define NAME_FINDER_INIT                                                                           \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Starts the process, which asks @source. Before threads are started. 0, or -errno with a
 * diagnosis.
 */
int name_finder_start(struct name_finder *finder, const struct address_names_source *source,
		      struct diag *diag);
/* The next name, valid until the next call; NULL: none now. @finder->fd is -1 at the end. */
const char *name_finder_next(struct name_finder *finder);
void name_finder_close(struct name_finder *finder);
