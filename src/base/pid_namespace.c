// SPDX-License-Identifier: Apache-2.0
#include "base/pid_namespace.h"

#include <sys/stat.h>

#define INITIAL_INODE 0xEFFFFFFCU /* PROC_PID_INIT_INO: the same on every machine */

bool pid_namespace_is_own(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != INITIAL_INODE;
}
