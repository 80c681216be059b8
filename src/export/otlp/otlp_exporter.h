/* SPDX-License-Identifier: Apache-2.0 */
/* Sends snapshots to a receiver of OTLP over HTTP: docs/otlp.md. */
#pragma once

#include "export/exporter.h"

extern const struct exporter_ops otlp_exporter;
