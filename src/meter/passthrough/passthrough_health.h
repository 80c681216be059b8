/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of records from the host. */
#pragma once

#include "base/health.h"

/* Its owner is the struct meter of the source passthrough. */
extern const struct health_part passthrough_health_part;
