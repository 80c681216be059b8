/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the exporter: /, /metrics, /healthz, /readyz, and for peers on this machine
 * /explain/WHAT (explain_page.h).
 *
 * /healthz reports whether the loop turns (heartbeat.h); while it does not, /metrics answers 503
 * instead of old values. /readyz reports whether there is a snapshot younger than three intervals.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "config/config.h"
#include "explain/explain_desk.h"
#include "export/scrape_pace.h"
#include "service/heartbeat.h"
#include "snapshot/snapshot.h"

struct web;

/*
 * Starts serving on its own thread, which holds no capabilities; before the first snapshot all but
 * /healthz answer 503. @holder, @heartbeat, @pace, which is told of each scrape, and @desk must
 * outlive it. It takes over the tokens of @config. 0, or -errno with a diagnosis.
 */
int web_start(struct config *config, struct snapshot_holder *holder,
	      const struct heartbeat *heartbeat, struct scrape_pace *pace,
	      struct explain_desk *desk, struct web **ret, struct diag *diag);
void web_stop(struct web *web);
/* Takes the tokens of @config, too. */
void web_reconfigure(struct web *web, struct config *config);
/*
 * Once per interval: cuts connections that exceeded their deadline, and logs what a person has to
 * know of the server.
 */
void web_sweep(struct web *web, uint64_t now_ns);
/* Accepts requests for @name, too, where other machines can connect. By the thread that sweeps. */
void web_add_name(struct web *web, const char *name);
/* "http://127.0.0.1:28282/metrics" of the first listener. */
void web_url(const struct web *web, char *buf, size_t size);
