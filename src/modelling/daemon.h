/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that is a server: it gives up privileges, starts, informs the service manager, and
 * takes turns until a signal ends it. SIGHUP requests a reload.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "modelling/security_options.h"
#include "net/server/http_handler.h"

struct strbuf;

struct daemon {
	const struct security_values *security;
	/* Opens everything: 0 or -errno with a diagnosis. */
	int (*start)(void *userdata, struct diag *diag);
	/* One turn of the loop; @reload: SIGHUP was received. */
	void (*turn)(void *userdata, uint64_t now_ns, bool reload);
	/* Closes everything, also after a failed start. */
	void (*stop)(void *userdata);
	int turn_ms; /* the longest time between two turns */
	/* NULL: sleeps. Waits up to turn_ms; whether @signal_fd can be read. */
	bool (*wait)(void *userdata, int signal_fd);
};

/* Until a signal asks for the end: 0, or -errno with a diagnosis if it could not be started. */
int daemon_run(const struct daemon *daemon, void *userdata, struct diag *diag);

/* Responses: a constant text; a page, which is taken over; the page /healthz. */
void daemon_answer_text(struct http_response *response, int status, const char *text);
void daemon_answer_page(struct http_response *response, int status, const char *type,
			struct strbuf *page);
void daemon_handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response);
