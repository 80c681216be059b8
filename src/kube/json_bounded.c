// SPDX-License-Identifier: Apache-2.0
#include "kube/json_bounded.h"

#include "base/text/json_scan.h"

json_t *json_parse_bounded(const char *text, size_t len)
{
	return !text || json_is_too_deep(text, len) ? NULL : json_loadb(text, len, 0, NULL);
}
