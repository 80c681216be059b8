// SPDX-License-Identifier: Apache-2.0
/*
 * A module of OpenIPMI's ipmi_sim: its BMC answers DCMI's Get Power Reading (DCMI 1.5, section
 * 6.6.1), which it does not do by itself.
 *
 * The module's option names a file that is read at each request: "WATTS [CODE [STATE]]", both in
 * hexadecimal: a completion code instead of an answer, and the state of the measurement (40: it is
 * active). Only for tests: it does not look at what else the request says.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <OpenIPMI/mcserv.h>
#include <OpenIPMI/serv.h>

#define EXPORT           __attribute__((visibility("default")))
#define GROUP_DCMI       0xdc
#define POWER_READING    0x02
#define INVALID_COMMAND  0xc1
#define READING_LEN      19
#define SAMPLE_PERIOD_MS 1000

static char state_path[256];

static void put(unsigned char *bytes, uint32_t value, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
}

static void answer(lmc_data_t *mc, msg_t *message, unsigned char *ret, unsigned *ret_len,
		   void *userdata)
{
	unsigned watts = 0, code = INVALID_COMMAND, state = 0x40;
	FILE *file = fopen(state_path, "r");

	(void)mc;
	(void)userdata;
	if (file) {
		code = 0;
		if (fscanf(file, "%u %x %x", &watts, &code, &state) < 1)
			watts = 0;
		(void)fclose(file);
	}
	if (message->cmd != POWER_READING)
		code = INVALID_COMMAND;
	ret[0] = (unsigned char)code;
	*ret_len = code ? 1 : READING_LEN;
	if (code)
		return;
	memset(ret + 1, 0, READING_LEN - 1);
	ret[1] = GROUP_DCMI;
	for (unsigned i = 0; i < 4; i++) /* now, minimum, maximum, mean */
		put(ret + 2 + 2 * (size_t)i, watts, 2);
	put(ret + 10, (uint32_t)time(NULL), 4);
	put(ret + 14, SAMPLE_PERIOD_MS, 4);
	ret[18] = (unsigned char)state;
}

EXPORT int ipmi_sim_module_print_version(sys_data_t *system, char *options);
EXPORT int ipmi_sim_module_init(sys_data_t *system, const char *options);

int ipmi_sim_module_print_version(sys_data_t *system, char *options)
{
	(void)system;
	(void)options;
	return 0;
}

int ipmi_sim_module_init(sys_data_t *system, const char *options)
{
	(void)system;
	(void)snprintf(state_path, sizeof(state_path), "%s", options ? options : "");
	ipmi_emu_register_group_extension_handler(GROUP_DCMI, answer, NULL);
	return 0;
}
