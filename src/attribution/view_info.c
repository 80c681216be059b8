// SPDX-License-Identifier: Apache-2.0
#include "attribution/view_info.h"

const struct option_choice view_choices[VIEW_COUNT + 1] = { { "process", LEVEL_PROCESS },
							    { "container", LEVEL_CONTAINER },
							    { "pod", LEVEL_POD },
							    { "vm", LEVEL_VM },
							    { "namespace", LEVEL_NAMESPACE },
							    { "service", VIEW_SERVICE },
							    { "user", VIEW_USER },
							    { "gpu", VIEW_GPU },
							    { 0 } };

const char *view_name(unsigned view)
{
	return view_choices[view].name;
}
