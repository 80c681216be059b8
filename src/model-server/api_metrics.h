/* SPDX-License-Identifier: Apache-2.0 */
/* The model server's metrics about itself, as text for Prometheus. */
#pragma once

#include "base/strbuf.h"
#include "model-server/api_state.h"

#define API_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The caller holds the lock of @api. */
void api_metrics_print(const struct model_api *api, struct strbuf *out);
