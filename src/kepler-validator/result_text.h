/* SPDX-License-Identifier: Apache-2.0 */
/* A result as lines for a terminal, its verdict first. */
#pragma once

#include "base/strbuf.h"
#include "judging/result.h"

void result_text_add(struct strbuf *out, const struct result *result);
