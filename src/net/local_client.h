/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the exporter that runs on this machine, over its local socket. One thread. */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

struct local_client;

/*
 * 0 where an exporter answers at @socket (local.socket, borrowed), whatever it answers; or -errno
 * with a diagnosis. A hanging one counts, because it may come back.
 */
int local_client_open(const char *socket, const char *user_agent, struct local_client **ret,
		      struct diag *diag);
/* The same; @cancel_fd readable: a request ends with -ECANCELED. */
int local_client_open_cancelled(const char *socket, const char *user_agent, int cancel_fd,
				struct local_client **ret, struct diag *diag);
void local_client_close(struct local_client *client); /* NULL is fine */
/*
 * The body of @target, of @max_bytes at most, in @ret. 0: the status is 200 or, with @ret_status,
 * any below 300; or -errno with a diagnosis: -EAGAIN: later; -EACCES: refused, with the reason.
 */
int local_client_get(struct local_client *client, const char *target, size_t max_bytes,
		     struct strbuf *ret, int *ret_status, struct diag *diag);
/*
 * Follows @target, which answers in lines, each for @line as it comes (terminated, with its end of
 * line), until the exporter ends that. An exporter that only knows one answer gives that one. As
 * local_client_get(); -ETIMEDOUT: no line has come for @patience_ns.
 */
typedef void local_line_fn(void *userdata, struct strbuf *line);
int local_client_follow(struct local_client *client, const char *target, size_t max_bytes,
			uint64_t patience_ns, local_line_fn *line, void *userdata,
			struct diag *diag);
/* Adds to the diagnosis what a user without privileges can do to run `kepler COMMAND`. -EACCES. */
int local_client_refused(const struct diag *of_exporter, const char *command, struct diag *diag);
