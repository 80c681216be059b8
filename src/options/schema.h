/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strbuf.h"
#include "options/option_set.h"

/* A JSON Schema of the configuration file. */
void options_schema(const struct option_set *set, struct strbuf *out);
