// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/guest_flags.h"

#define OWN(member) OPTION_MEMBER(struct guest_flags, member)

static const struct option_choice accel_choices[] = { { "auto", GUEST_ACCEL_AUTO },
						      { "kvm", GUEST_ACCEL_KVM },
						      { "tcg", GUEST_ACCEL_TCG },
						      { NULL, 0 } };

const struct option guest_flag_rows[GUEST_FLAG_COUNT] = {
	TEXT_FLAG("vm.kernel", OWN(kernel), "", "FILE",
		  "For --scenario=vm: the kernel image of the virtual machine; by default "
		  "/boot/vmlinuz-RELEASE with the release of the running kernel."),
	TEXT_FLAG(
		"vm.initrd", OWN(initrd), "", "FILE",
		"Its initramfs; by default the validator's own. The init of another one must print "
		"\"kepler-validator: the guest is ready\", make one more CPU busy for each line r "
		"on its console, and rest after a line s."),
	TEXT_FLAG("vm.append", OWN(append), "", "WORDS",
		  "Words to add to the command line of its kernel."),
	{ "vm.accel", NULL, OPTION_ENUM, OWN(accel), .choices = accel_choices,
	  .default_text = "auto", .metavar = "ACCELERATOR", .only_flag = true,
	  .help = "The accelerator of QEMU; auto uses KVM if it can, and else emulates with TCG." },
	{ "vm.cpus", NULL, OPTION_U32, OWN(cpus), OPTION_RANGE(1, 256), .default_text = "1",
	  .metavar = "COUNT", .only_flag = true,
	  .help = "The number of its CPUs, all of which its load uses." },
	{ "vm.memory", NULL, OPTION_U32, OWN(memory_mib), OPTION_RANGE(64, 65536),
	  .default_text = "512", .metavar = "MIB", .only_flag = true,
	  .help = "Its memory in MiB." },
};

struct guest_options guest_flags_options(const struct guest_flags *flags)
{
	return (struct guest_options){
		.kernel = flags->kernel,
		.initrd = flags->initrd,
		.append = flags->append,
		.accel = (enum guest_accel)flags->accel,
		.cpus = flags->cpus,
		.memory_mib = flags->memory_mib,
	};
}
