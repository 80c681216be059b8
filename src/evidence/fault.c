// SPDX-License-Identifier: Apache-2.0
#include "evidence/fault.h"

#include <stdarg.h>
#include <stdio.h>

void exporter_fault_note(struct exporter_fault *fault, const char *format, ...)
{
	va_list args;

	if (fault->count++ > 0)
		return;
	va_start(args, format);
	(void)vsnprintf(fault->example, sizeof(fault->example), format, args);
	va_end(args);
}
