/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the exporter: /, /metrics, /healthz, /readyz, and for peers on this machine
 * /explain/WHAT (explain_page.h).
 *
 * /healthz reports whether the loop turns (heartbeat.h); while it does not, /metrics answers 503
 * instead of old values. /readyz reports whether there is a snapshot younger than three intervals.
 */
#pragma once

#include "export/exporter.h"

/*
 * Serves on its own thread, which holds no capabilities; before the first snapshot all but /healthz
 * answer 503. It takes over the tokens of the configuration, at the start and after a reload.
 */
extern const struct exporter_ops web_exporter;
