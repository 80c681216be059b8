// SPDX-License-Identifier: Apache-2.0
#include "model/processor/instance_type.h"

#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "model/processor/cpu_name.h"

#define VENDOR "Amazon EC2"

/* clang-format off */
const struct instance_host instance_hosts[] = {
	{ "c5", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8275CL" },
	{ "c5", 72, 36, 2, "Intel(R) Xeon(R) Platinum 8124M" },
	{ "c5d", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8275CL" },
	{ "c5d", 72, 36, 2, "Intel(R) Xeon(R) Platinum 8124M" },
	{ "c5n", 72, 36, 2, "Intel(R) Xeon(R) Platinum 8124M" },
	{ "m5", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8175M" },
	{ "m5", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "m5d", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8175M" },
	{ "m5d", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "r5", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8175M" },
	{ "r5", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "r5d", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8175M" },
	{ "r5d", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "m5n", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "m5dn", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "r5b", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "r5n", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "r5dn", 96, 48, 2, "Intel(R) Xeon(R) Platinum 8259CL" },
	{ "c6a", 192, 96, 2, "AMD EPYC 7R13" },
	{ "m6a", 192, 96, 2, "AMD EPYC 7R13" },
	{ "r6a", 192, 96, 2, "AMD EPYC 7R13" },
	{ "c6g", 64, 64, 1, "AWS Graviton2" },
	{ "c6gd", 64, 64, 1, "AWS Graviton2" },
	{ "m6g", 64, 64, 1, "AWS Graviton2" },
	{ "m6gd", 64, 64, 1, "AWS Graviton2" },
	{ "r6g", 64, 64, 1, "AWS Graviton2" },
	{ "r6gd", 64, 64, 1, "AWS Graviton2" },
	{ "c6i", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "c6id", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "c6in", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "m6i", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "m6id", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "m6idn", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "m6in", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "r6i", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "r6id", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "r6idn", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "r6in", 128, 64, 2, "Intel(R) Xeon(R) Platinum 8375C" },
	{ "c7a", 192, 192, 2, "AMD EPYC 9R14" },
	{ "m7a", 192, 192, 2, "AMD EPYC 9R14" },
	{ "r7a", 192, 192, 2, "AMD EPYC 9R14" },
	{ "c7g", 64, 64, 1, "AWS Graviton3" },
	{ "c7gd", 64, 64, 1, "AWS Graviton3" },
	{ "c7gn", 64, 64, 1, "AWS Graviton3" },
	{ "m7g", 64, 64, 1, "AWS Graviton3" },
	{ "m7gd", 64, 64, 1, "AWS Graviton3" },
	{ "r7g", 64, 64, 1, "AWS Graviton3" },
	{ "r7gd", 64, 64, 1, "AWS Graviton3" },
	{ "c7i", 192, 96, 2, "Intel(R) Xeon(R) Platinum 8488C" },
	{ "m7i", 192, 96, 2, "Intel(R) Xeon(R) Platinum 8488C" },
	{ "r7i", 192, 96, 2, "Intel(R) Xeon(R) Platinum 8488C" },
	{ "c8g", 192, 192, 2, "AWS Graviton4" },
	{ "c8gd", 192, 192, 2, "AWS Graviton4" },
	{ "m8g", 192, 192, 2, "AWS Graviton4" },
	{ "m8gd", 192, 192, 2, "AWS Graviton4" },
	{ "r8g", 192, 192, 2, "AWS Graviton4" },
	{ "r8gd", 192, 192, 2, "AWS Graviton4" },
	{ "c8i", 384, 192, 2, "Intel(R) Xeon(R) 6975P-C" },
	{ "m8i", 384, 192, 2, "Intel(R) Xeon(R) 6975P-C" },
	{ "r8i", 384, 192, 2, "Intel(R) Xeon(R) 6975P-C" },
};
/* clang-format on */

const size_t instance_hosts_count = ARRAY_SIZE(instance_hosts);

/* Numbers distinguish the models of a series. */
static bool is_hidden(const struct cpu_name *name)
{
	return !name->key[strcspn(name->key, "0123456789")];
}

bool instance_name_is_hidden(const char *cpu_model)
{
	struct cpu_name name;

	cpu_name_read(cpu_model, &name);
	return is_hidden(&name);
}

static bool fits(const struct instance_host *host, const struct cpu_name *guest)
{
	struct cpu_name name;

	if (is_hidden(guest))
		return true;
	cpu_name_read(host->processor, &name);
	return strcmp(name.key, guest->key) == 0;
}

const struct instance_host *instance_host_find(const char *vendor, const char *product,
					       const char *cpu_model, unsigned vcpus)
{
	size_t length = strcspn(product, ".");
	struct cpu_name guest;

	if (strcmp(vendor, VENDOR) != 0 || !product[length])
		return NULL;
	cpu_name_read(cpu_model, &guest);
	for (size_t i = 0; i < ARRAY_SIZE(instance_hosts); i++) {
		const struct instance_host *host = &instance_hosts[i];

		if (strlen(host->family) == length && memcmp(host->family, product, length) == 0 &&
		    vcpus <= host->cpus && fits(host, &guest))
			return host;
	}
	return NULL;
}
