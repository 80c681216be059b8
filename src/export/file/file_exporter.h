/* SPDX-License-Identifier: Apache-2.0 */
/* Writes snapshots to a file, as lines of JSON or CSV: docs/files.md. */
#pragma once

#include "export/exporter.h"

extern const struct exporter_ops file_exporter;
