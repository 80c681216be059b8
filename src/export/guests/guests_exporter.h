/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to each virtual machine of this host its own energy, by the channels that are configured:
 * docs/passthrough.md. One thread serves all of them, and waits for snapshots and for guests.
 */
#pragma once

#include "export/exporter.h"

extern const struct exporter_ops guests_exporter;
