// SPDX-License-Identifier: Apache-2.0
#include "snapshot/owner_text.h"

#include <stdio.h>
#include <string.h>

#include "energy/label_text.h"

void owner_text(const struct owner_names *names, bool whole, char ret[OWNER_TEXT_SIZE])
{
	const char *const *text = names->text;
	char long_text[3 * OWNER_NAME_MAX + sizeof(" in /")];
	const char *name = text[LABEL_CONTAINER_NAME][0] ? text[LABEL_CONTAINER_NAME]
							 : text[LABEL_CONTAINER_ID];

	if (!text[LABEL_POD_ID][0]) {
		if (!memccpy(ret, name, '\0', OWNER_TEXT_SIZE)) /* else cut, at a character */
			label_text(ret, OWNER_TEXT_SIZE, name);
		return;
	}
	(void)snprintf(long_text, sizeof(long_text), "%s%s%s/%s", whole ? name : "",
		       whole ? " in " : "", text[LABEL_NAMESPACE], text[LABEL_POD_NAME]);
	label_text(ret, OWNER_TEXT_SIZE, long_text);
}
