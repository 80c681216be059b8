/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from a peer, parsed only when it is not nested too deeply (base/text/json_scan.h). Pure. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* NULL: no JSON, too deep, or no memory. */
json_t *json_parse_bounded(const char *text, size_t len);
