/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vendor's management library, loaded when it is needed: its functions by a table of names, and
 * the functions that libraries have in common. HLML has the types and the numbers of NVML, so one
 * declaration serves both ABIs. A function that an old library lacks is NULL, except those
 * that are marked as always present.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define VENDOR_UUID_MAX 96

/* nvmlReturn_t, and hlml_return_t as far as it has them. */
enum vendor_result {
	VENDOR_OK = 0,
	VENDOR_NOT_SUPPORTED = 3,
	VENDOR_NO_PERMISSION = 4,
	VENDOR_NOT_FOUND = 6,
	VENDOR_TOO_SMALL = 7, /* the array; its count is what is needed */
	VENDOR_DRIVER_NOT_LOADED = 9,
	VENDOR_TIMEOUT = 10,
	VENDOR_FUNCTION_NOT_FOUND = 13, /* the driver is older than the library */
	VENDOR_DEVICE_IS_LOST = 15,
	VENDOR_VERSION_MISMATCH = 18, /* of library and driver */
};

typedef struct vendor_device *vendor_device; /* the library's own */

struct vendor_library {
	int (*init)(void); /* there always, as the next four */
	int (*shut_down)(void);
	int (*device_count)(unsigned *ret);
	int (*device_by_index)(unsigned index, vendor_device *ret);
	int (*device_uuid)(vendor_device device, char *ret, unsigned size);
	int (*device_serial)(vendor_device device, char *ret, unsigned size);
	int (*device_minor)(vendor_device device, unsigned *ret); /* N of its device */
	int (*total_energy)(vendor_device device,
			    unsigned long long *ret_mj); /* since the driver */
	int (*power)(vendor_device device, unsigned *ret_mw);
};

/* Where the address of a function goes; of several with one place the first that there is. */
struct vendor_function {
	const char *name;
	size_t offset;
	bool is_needed;
};

/*
 * Loads @name, a path or a name that the dynamic linker looks for, and in @folder (NULL: none) if
 * that does not find it. @ret: a structure of pointers to functions, all NULL. 0, or -errno with a
 * message: -ENOENT not installed, -ENOSYS too old. It is never unloaded: it may have threads.
 */
int vendor_library_load(const char *name, const char *folder,
			const struct vendor_function *functions, size_t count, void *ret,
			struct diag *diag);
/* The errno, below 0, that says the same; 0 for VENDOR_OK. */
int vendor_error(int result);
