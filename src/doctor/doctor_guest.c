// SPDX-License-Identifier: Apache-2.0
/*
 * Without a report of the host, the remedies are the lines that give the machine a channel, for the
 * managers of machines of its hypervisor. docs/passthrough-host.md has the same lines, and
 * explains them.
 */
#include "doctor/doctor_guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/ascii.h"
#include "base/text/uuid.h"
#include "meter/passthrough/passthrough.h"
#include "meter/passthrough/passthrough_channel.h"

#define TOPIC "passthrough"

/* "UUID" is replaced by the machine's, if that can be read. */
#define LIBVIRT                                                                                    \
	"libvirt, on the host: write <channel type='unix'><source mode='bind' "                    \
	"path='/run/kepler-guests/UUID.sock'/><target type='virtio' "                              \
	"name='io.kepler.energy.0'/></channel> to channel.xml, run virsh attach-device DOMAIN "    \
	"channel.xml --live --config, and start Kepler there with "                                \
	"--passthrough.sockets=/run/kepler-guests"
#define PROXMOX                                                                                    \
	"Proxmox, on the host: add to /etc/pve/qemu-server/VMID.conf the line args: -chardev "     \
	"socket,id=kepler,path=/run/kepler-guests/UUID.sock,server=on,wait=off -device "           \
	"virtio-serial-pci -device virtserialport,chardev=kepler,name=io.kepler.energy.0, stop "   \
	"and start the machine, and start Kepler there with --passthrough.sockets="                \
	"/run/kepler-guests"
#define KUBEVIRT                                                                                   \
	"KubeVirt: set spec.template.spec.domain.devices.autoattachVSOCK: true in the "            \
	"VirtualMachine (feature gate VSOCK), start Kepler on the node with "                      \
	"--passthrough.vsock=28283, and here with --meter.passthrough=vsock"
#define FIRECRACKER                                                                                \
	"Firecracker, on the host: PUT /vsock {\"guest_cid\": 3, \"uds_path\": "                   \
	"\"/run/kepler-guests/firecracker-NAME.vsock\"} for --id NAME, start Kepler there with "   \
	"--passthrough.vsock=28283 --passthrough.sockets=/run/kepler-guests, and here with "       \
	"--meter.passthrough=vsock"

static const struct remedy {
	const char *vendor;      /* in the firmware's vendor or product; NULL: any */
	const char *hypervisors; /* as host_info.hypervisor has them */
	const char *text;        /* NULL: there is none, and why */
	const char *why;
} remedies[] = {
	{ "KubeVirt", "kvm qemu", KUBEVIRT, NULL },
	{ "OpenStack", "kvm qemu", NULL,
	  "OpenStack Nova can give a machine no such channel, except by a libvirt hook on the "
	  "compute nodes" },
	{ NULL, "kvm qemu bochs", LIBVIRT, NULL },
	{ NULL, "kvm qemu bochs", PROXMOX, NULL },
	{ NULL, "firecracker", FIRECRACKER, NULL },
};

static bool applies(const struct remedy *remedy, const struct host_info *host)
{
	const char *found = strstr(remedy->hypervisors, host->hypervisor);

	return found && host->hypervisor[0] &&
	       (!remedy->vendor || strstr(host->dmi_vendor, remedy->vendor) ||
		strstr(host->dmi_product, remedy->vendor));
}

/* Only root can read it, and some machines have none: then it is "UUID". */
static void read_uuid(const char *sysfs, char ret[static UUID_TEXT_LEN + 1])
{
	char path[4096], text[64];

	(void)snprintf(ret, UUID_TEXT_LEN + 1, "UUID");
	if (path_join(path, sizeof(path), sysfs, "class/dmi/id/product_uuid") < 0 ||
	    read_file_at(AT_FDCWD, path, text, sizeof(text)) < UUID_TEXT_LEN)
		return;
	for (size_t i = 0; i < UUID_TEXT_LEN; i++)
		ret[i] = ascii_lower(text[i]);
	ret[UUID_TEXT_LEN] = '\0';
}

static void fill_in(const char *text, const char *uuid, struct strbuf *out)
{
	const char *place = strstr(text, "UUID");

	if (!place) {
		strbuf_add_str(out, text);
		return;
	}
	strbuf_add(out, text, (size_t)(place - text));
	strbuf_add_str(out, uuid);
	strbuf_add_str(out, place + strlen("UUID"));
}

static void explain_ways(struct findings *findings, const struct sources *sources,
			 const struct config *config)
{
	const struct remedy *first = NULL;
	char uuid[UUID_TEXT_LEN + 1];

	read_uuid(config->host.sysfs, uuid);
	for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
		CLEANUP(strbuf_release) struct strbuf fix = STRBUF_INIT;
		const struct remedy *remedy = &remedies[i];

		/* A manager that the firmware names has the only remedies. */
		if (!applies(remedy, &sources->host) || (first && first->vendor && !remedy->vendor))
			continue;
		first = first ? first : remedy;
		if (remedy->text)
			fill_in(remedy->text, uuid, &fix);
		findings_add(findings, FINDING_NOTE, TOPIC, fix.data, "%s",
			     remedy->text ? "a host that runs Kepler can report the energy that it "
					    "measures for this machine"
					  : remedy->why);
	}
	if (!first)
		findings_add(findings, FINDING_NOTE, TOPIC, NULL,
			     "the host does not report this machine's energy, and Kepler knows no "
			     "channel for it on this hypervisor (%s)",
			     sources->host.hypervisor);
}

static const char *place_of(const struct config *config)
{
	return config->meter.passthrough.from ? config->meter.passthrough.from : PASSTHROUGH_AUTO;
}

/* The place that auto stands for. */
static const char *found_place(const char *place, const struct passthrough_places *places)
{
	const char *best = passthrough_best_place(places);

	return strcmp(place, PASSTHROUGH_AUTO) == 0 && best[0] ? best : place;
}

/* "package (measured), dram (estimated)" */
static size_t list_zones(const struct meter_table *meters, struct strbuf *out)
{
	size_t count = 0;

	for (size_t z = 0; meters && z < meter_table_count(meters); z++) {
		const struct zone *zone = meter_table_zone(meters, z);

		if (strcmp(zone->source, passthrough_meter.name) != 0)
			continue;
		strbuf_addf(out, "%s%s (%s%s)", count++ ? ", " : "", zone_kind_name(zone->kind),
			    zone_quality_name(zone->quality),
			    zone->knows_idle ? ", with a share of the idle energy" : "");
	}
	return count;
}

/* Channels of the machine that the meter does not read. */
static void examine_unused(struct findings *findings, const struct passthrough_places *places,
			   const char *place)
{
	if (places->has_vsock && !passthrough_is_vsock(place))
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "if Kepler on the host has --passthrough.vsock=28283, start Kepler "
			     "here with --meter.passthrough=vsock; kepler config needs prints what "
			     "its service has to permit",
			     "this machine has a vsock device, over which the host can report its "
			     "energy");
	if (places->vhostmd[0])
		findings_add(findings, FINDING_NOTE, TOPIC, NULL,
			     "%s is the port of vhostmd or of KubeVirt's downward metrics: it has "
			     "no energy, unless Kepler on the host answers there, or the host adds "
			     "EnergyConsumedPackage to vhostmd's metrics",
			     places->vhostmd);
	if (places->scaphandre[0])
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "share the directory of Kepler on the host (--passthrough.dir) in its "
			     "place, with the tag kepler",
			     "%s is not read: " PASSTHROUGH_SCAPHANDRE_WHY, places->scaphandre);
	if ((places->port[0] || places->folder[0]) && strcmp(place, PASSTHROUGH_OFF) == 0)
		findings_add(findings, FINDING_NOTE, TOPIC, "--meter.passthrough=auto",
			     "%s, over which the host reports this machine's energy, is not read: "
			     "meter.passthrough is off",
			     passthrough_best_place(places));
}

/* A virtual machine's RAPL is made by its hypervisor, and Kepler cannot see from what. */
static void examine_rapl(struct findings *findings, const struct meter_table *meters,
			 bool is_virtual)
{
	if (!is_virtual)
		return;
	for (size_t z = 0; meters && z < meter_table_count(meters); z++) {
		const struct zone *zone = meter_table_zone(meters, z);

		if (strncmp(zone->source, "rapl-", strlen("rapl-")) != 0)
			continue;
		findings_add(
			findings, FINDING_NOTE, TOPIC, NULL,
			"this virtual machine has RAPL (%s), which its hypervisor makes: QEMU's "
			"rapl=on divides the host's packages by the CPU time of virtual "
			"machines, so it is a share of these and not a meter; it counts only "
			"without the host's account, with the caveat virtual",
			zone->source);
		return;
	}
}

/* A machine that is protected from its host cannot verify what the host reports. */
static void examine_trust(struct findings *findings, const struct host_info *host)
{
	if (host->confidential[0])
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "do not bill inside this machine by it, and do not let it decide what "
			     "the host must not decide",
			     "this machine is protected from its host (%s), so its energy is only "
			     "what the host claims: kepler_exporter_source_caveat has host-claimed",
			     host->confidential);
}

void doctor_examine_guest(struct findings *findings, const struct sources *sources,
			  const struct config *config)
{
	CLEANUP(strbuf_release) struct strbuf zones = STRBUF_INIT;
	const char *place = place_of(config);
	struct passthrough_places places;

	if (!sources->host.is_vm)
		return;
	examine_rapl(findings, sources->meters, sources->host.registers_are_virtual);
	passthrough_search(config->host.procfs, config->host.sysfs, &places);
	place = found_place(place, &places);
	if (list_zones(sources->meters, &zones)) {
		findings_add(findings, FINDING_OK, TOPIC, NULL,
			     "the host reports this machine's energy through %s: %s", place,
			     zones.data ? zones.data : "");
		if (place == places.vhostmd || passthrough_is_vhostmd(place))
			findings_add(findings, FINDING_NOTE, TOPIC,
				     "give this machine a port " PASSTHROUGH_PORT_NAME
				     " as well, as docs/passthrough-host.md describes",
				     "it arrives as metrics of vhostmd, which have no checksum and "
				     "do not tell idle energy apart: it is divided as dynamic "
				     "energy");
		examine_trust(findings, &sources->host);
		return;
	}
	examine_unused(findings, &places, place);
	if (passthrough_is_vsock(place) || passthrough_is_vhostmd(place) ||
	    (place[0] == '/' && place != places.vhostmd))
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "see on the host what kepler doctor says about passthrough, with the "
			     "options of its service",
			     "the host has not reported this machine's energy through %s yet",
			     place);
	else
		explain_ways(findings, sources, config);
}
