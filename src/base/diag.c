// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

int diag_set(struct diag *diag, int err, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return err;
	va_start(ap, fmt);
	(void)vsnprintf(diag->text, sizeof(diag->text), fmt, ap);
	va_end(ap);
	return err;
}
