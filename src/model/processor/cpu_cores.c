// SPDX-License-Identifier: Apache-2.0
/*
 * Cores of Intel's server CPUs, whose names do not say them as those of AMD and Ampere do; physical
 * ones of one package, as Intel publishes them (ark.intel.com). Names are keys as cpu_name.c makes
 * them, in the order of strcmp(). They are of use in virtual machines, which do not see the
 * sockets of their host; so the CPUs that virtual machines run on today are here.
 */
#include "model/processor/cpu_cores.h"

#include "base/macro.h"

/* clang-format off */
const struct cpu_cores cpu_cores[] = {
	{ "xeon3104", 6 }, { "xeon3106", 8 }, { "xeon3204", 6 }, { "xeon4108", 8 },
	{ "xeon4109t", 8 }, { "xeon4110", 8 }, { "xeon4112", 4 }, { "xeon4114", 10 },
	{ "xeon4114t", 10 }, { "xeon4116", 12 }, { "xeon4208", 8 }, { "xeon4209t", 8 },
	{ "xeon4210", 10 }, { "xeon4210r", 10 }, { "xeon4214", 12 }, { "xeon4214r", 12 },
	{ "xeon4214y", 12 }, { "xeon4215", 8 }, { "xeon4216", 16 }, { "xeon4309y", 8 },
	{ "xeon4310", 12 }, { "xeon4310t", 10 }, { "xeon4314", 16 }, { "xeon4316", 20 },
	{ "xeon4410y", 12 }, { "xeon4416+", 20 }, { "xeon5115", 10 }, { "xeon5117", 14 },
	{ "xeon5118", 12 }, { "xeon5119t", 14 }, { "xeon5120", 14 }, { "xeon5120t", 14 },
	{ "xeon5122", 4 }, { "xeon5215", 10 }, { "xeon5217", 8 }, { "xeon5218", 16 },
	{ "xeon5218r", 20 }, { "xeon5220", 18 }, { "xeon5220r", 24 }, { "xeon5222", 4 },
	{ "xeon5315y", 8 }, { "xeon5317", 12 }, { "xeon5318h", 18 }, { "xeon5318n", 24 },
	{ "xeon5318s", 24 }, { "xeon5318y", 24 }, { "xeon5320", 26 }, { "xeon5320h", 20 },
	{ "xeon5320t", 20 }, { "xeon5411n", 24 }, { "xeon5412u", 24 }, { "xeon5415+", 8 },
	{ "xeon5416s", 16 }, { "xeon5418n", 24 }, { "xeon5418y", 24 }, { "xeon5420+", 28 },
	{ "xeon5520+", 28 }, { "xeon6126", 12 }, { "xeon6126t", 12 }, { "xeon6128", 6 },
	{ "xeon6130", 16 }, { "xeon6130t", 16 }, { "xeon6132", 14 }, { "xeon6134", 8 },
	{ "xeon6136", 12 }, { "xeon6138", 20 }, { "xeon6138t", 20 }, { "xeon6140", 18 },
	{ "xeon6142", 16 }, { "xeon6144", 8 }, { "xeon6146", 12 }, { "xeon6148", 20 },
	{ "xeon6150", 18 }, { "xeon6152", 22 }, { "xeon6154", 18 }, { "xeon6208u", 16 },
	{ "xeon6209u", 20 }, { "xeon6210u", 20 }, { "xeon6212u", 24 }, { "xeon6222v", 20 },
	{ "xeon6226", 12 }, { "xeon6226r", 16 }, { "xeon6230", 20 }, { "xeon6230r", 26 },
	{ "xeon6234", 8 }, { "xeon6238", 22 }, { "xeon6238r", 28 }, { "xeon6240", 18 },
	{ "xeon6240r", 24 }, { "xeon6242", 16 }, { "xeon6242r", 20 }, { "xeon6244", 8 },
	{ "xeon6246", 12 }, { "xeon6246r", 16 }, { "xeon6248", 20 }, { "xeon6248r", 24 },
	{ "xeon6252", 24 }, { "xeon6254", 18 }, { "xeon6256", 12 }, { "xeon6258r", 28 },
	{ "xeon6262v", 24 }, { "xeon6312u", 24 }, { "xeon6314u", 32 }, { "xeon6326", 16 },
	{ "xeon6328h", 16 }, { "xeon6330", 28 }, { "xeon6330h", 24 }, { "xeon6330n", 28 },
	{ "xeon6334", 8 }, { "xeon6336y", 24 }, { "xeon6338", 32 }, { "xeon6338n", 32 },
	{ "xeon6338t", 24 }, { "xeon6342", 24 }, { "xeon6346", 16 }, { "xeon6348", 28 },
	{ "xeon6348h", 24 }, { "xeon6354", 18 }, { "xeon6414u", 32 }, { "xeon6416h", 18 },
	{ "xeon6418h", 24 }, { "xeon6421n", 32 }, { "xeon6426y", 16 }, { "xeon6428n", 32 },
	{ "xeon6430", 32 }, { "xeon6434", 8 }, { "xeon6438m", 32 }, { "xeon6438n", 32 },
	{ "xeon6438y+", 32 }, { "xeon6442y", 24 }, { "xeon6444y", 16 }, { "xeon6448h", 32 },
	{ "xeon6448y", 32 }, { "xeon6454s", 32 }, { "xeon6458q", 32 }, { "xeon6526y", 16 },
	{ "xeon6530", 32 }, { "xeon6534", 8 }, { "xeon6538y+", 32 }, { "xeon6542y", 24 },
	{ "xeon6544y", 16 }, { "xeon6548y+", 32 }, { "xeon6554s", 36 }, { "xeon8124m", 18 },
	{ "xeon8153", 16 }, { "xeon8156", 4 }, { "xeon8158", 12 }, { "xeon8160", 24 },
	{ "xeon8160t", 24 }, { "xeon8164", 26 }, { "xeon8168", 24 }, { "xeon8170", 26 },
	{ "xeon8175m", 24 }, { "xeon8176", 28 }, { "xeon8176m", 28 }, { "xeon8180", 28 },
	{ "xeon8180m", 28 }, { "xeon8253", 16 }, { "xeon8256", 4 }, { "xeon8259cl", 24 },
	{ "xeon8260", 24 }, { "xeon8260l", 24 }, { "xeon8260y", 24 }, { "xeon8268", 24 },
	{ "xeon8270", 26 }, { "xeon8275cl", 24 }, { "xeon8276", 28 }, { "xeon8276l", 28 },
	{ "xeon8276m", 28 }, { "xeon8280", 28 }, { "xeon8280l", 28 }, { "xeon8280m", 28 },
	{ "xeon8351n", 36 }, { "xeon8352m", 32 }, { "xeon8352s", 32 }, { "xeon8352v", 36 },
	{ "xeon8352y", 32 }, { "xeon8353h", 18 }, { "xeon8354h", 18 }, { "xeon8356h", 8 },
	{ "xeon8358", 32 }, { "xeon8358p", 32 }, { "xeon8360h", 24 }, { "xeon8360hl", 24 },
	{ "xeon8360y", 36 }, { "xeon8362", 32 }, { "xeon8368", 38 }, { "xeon8368q", 38 },
	{ "xeon8375c", 32 }, { "xeon8376h", 28 }, { "xeon8376hl", 28 }, { "xeon8380", 40 },
	{ "xeon8380h", 28 }, { "xeon8380hl", 28 }, { "xeon8444h", 16 }, { "xeon8450h", 28 },
	{ "xeon8452y", 36 }, { "xeon8454h", 32 }, { "xeon8458p", 44 }, { "xeon8460h", 40 },
	{ "xeon8460y+", 40 }, { "xeon8461v", 48 }, { "xeon8462y+", 32 }, { "xeon8468", 48 },
	{ "xeon8468h", 48 }, { "xeon8468v", 48 }, { "xeon8470", 52 }, { "xeon8470n", 52 },
	{ "xeon8470q", 52 }, { "xeon8471n", 52 }, { "xeon8480+", 56 }, { "xeon8488c", 48 },
	{ "xeon8490h", 60 }, { "xeon8558", 48 }, { "xeon8558p", 48 }, { "xeon8562y+", 32 },
	{ "xeon8568y+", 48 }, { "xeon8580", 60 }, { "xeon8581v", 60 }, { "xeon8592+", 64 },
	{ "xeon8592v", 64 }, { "xeon9242", 48 }, { "xeon9282", 56 }, { "xeone52620v4", 8 },
	{ "xeone52630v4", 10 }, { "xeone52640v4", 10 }, { "xeone52650v3", 10 },
	{ "xeone52650v4", 12 }, { "xeone52660v2", 10 }, { "xeone52660v3", 10 },
	{ "xeone52660v4", 14 }, { "xeone52666v3", 10 }, { "xeone52667v3", 8 },
	{ "xeone52667v4", 8 }, { "xeone52670v2", 10 }, { "xeone52670v3", 12 },
	{ "xeone52676v3", 12 }, { "xeone52680v2", 10 }, { "xeone52680v3", 12 },
	{ "xeone52680v4", 14 }, { "xeone52683v3", 14 }, { "xeone52683v4", 16 },
	{ "xeone52686v4", 18 }, { "xeone52690v2", 10 }, { "xeone52690v3", 12 },
	{ "xeone52690v4", 14 }, { "xeone52695v2", 12 }, { "xeone52695v3", 14 },
	{ "xeone52695v4", 18 }, { "xeone52697av4", 16 }, { "xeone52697v2", 12 },
	{ "xeone52697v3", 14 }, { "xeone52697v4", 18 }, { "xeone52698v3", 16 },
	{ "xeone52698v4", 20 }, { "xeone52699av4", 22 }, { "xeone52699v3", 18 },
	{ "xeone52699v4", 22 }, { "xeone54669v3", 18 }, { "xeone54669v4", 22 },
	{ "xeone78880v3", 18 }, { "xeone78880v4", 22 }, { "xeone78890v3", 18 },
	{ "xeone78890v4", 24 },
};
/* clang-format on */

const size_t cpu_cores_count = ARRAY_SIZE(cpu_cores);
