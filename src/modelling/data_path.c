// SPDX-License-Identifier: Apache-2.0
#include "modelling/data_path.h"

#include <string.h>

#include "base/file.h"

const char *data_path_of(const char *data_path, const char *name, char buf[static DATA_PATH_SIZE])
{
	if (!*data_path || !*name || name[0] == '/' || strcmp(name, "-") == 0 ||
	    path_join(buf, DATA_PATH_SIZE, data_path, name) < 0)
		return name;
	return buf;
}
