/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the resolver of owners, as metrics; its struct is struct identity_info. */
#pragma once

#include "base/health.h"

extern const struct health_part identity_health_part; /* of a struct identity_resolver */
