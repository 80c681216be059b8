// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/checking.h"

#include <errno.h>
#include <stdio.h>

struct result *checking_begin(const struct checking *checking, enum result_kind kind,
			      const char *group, const char *name)
{
	char text[RESULT_NAME_MAX];

	(void)snprintf(text, sizeof(text), "%s/%s", group, name);
	struct result *result = result_new(text, kind);
	if (result)
		(void)snprintf(result->exporter, sizeof(result->exporter), "%.*s",
			       RESULT_NAME_MAX - 1, checking->exporter->url);
	return result;
}

int checking_fault(const struct checking *checking, enum result_kind kind, const char *name,
		   const struct exporter_fault *fault, uint64_t of, const char *what)
{
	struct result *result = checking_begin(checking, kind, result_kind_name(kind), name);

	if (!result)
		return -ENOMEM;
	result->threshold.max_error = 0;
	if (fault->count > 0)
		result_set_verdict(result, VERDICT_FAIL, "%s: %llu of %llu; the first: %s.", what,
				   (unsigned long long)fault->count, (unsigned long long)of,
				   fault->example);
	else if (of == 0)
		result_set_verdict(result, VERDICT_NOT_APPLICABLE, "There was nothing to check.");
	else
		result_set_verdict(result, VERDICT_PASS, "%s: none of %llu.", what,
				   (unsigned long long)of);
	return result_list_add(checking->results, result);
}
