/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline's table of models as text, which model_table.h reads back. Pure. */
#pragma once

#include <jansson.h>

#include "base/strbuf.h"

/* @rows: an array of objects. Columns and rows have a fixed order. 0 or -ENOMEM. */
int table_text_write(const json_t *rows, struct strbuf *out);
