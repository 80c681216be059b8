/* SPDX-License-Identifier: Apache-2.0 */
/* Pushes snapshots to receivers of Prometheus remote write: docs/remote-write.md. */
#pragma once

#include "export/exporter.h"

extern const struct exporter_ops remote_write_exporter;
