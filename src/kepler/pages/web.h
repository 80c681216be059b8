/* SPDX-License-Identifier: Apache-2.0 */
/* The exporter's web server: its pages (pages.h) at the addresses of --web.listen-address. */
#pragma once

#include "export/exporter.h"

/*
 * Serves on its own thread, which holds no capabilities. It takes over the tokens of the
 * configuration, at the start and after a reload.
 */
extern const struct exporter_ops web_exporter;
