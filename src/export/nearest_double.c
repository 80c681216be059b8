// SPDX-License-Identifier: Apache-2.0
#include "export/nearest_double.h"

#include "base/num.h"
#include "export/text_sink.h"

const double powers_of_ten[10] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };

double nearest_large(uint64_t value, unsigned decimals)
{
	char text[FORMAT_SCALED_MAX + 1];
	double nearest = 0;

	text[format_scaled(text, value, decimals)] = '\0';
	(void)parse_double(text, &nearest); /* it is a number */
	return nearest;
}
