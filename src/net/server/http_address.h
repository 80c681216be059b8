/* SPDX-License-Identifier: Apache-2.0 */
/* "HOST:PORT", as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Pure: splits "HOST:PORT", "[V6]:PORT" or ":PORT". 0 or -EINVAL with a diagnosis. */
int http_parse_address(const char *text, char *host, size_t host_size, uint16_t *ret_port,
		       struct diag *diag);
