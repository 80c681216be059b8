{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/*
The configuration file. Keys of current upstream Kepler become ours where they mean the same, as `kepler config import` does it; a
test compares the two. What upstream's defaults ask for is met or needs nothing here; another value that cannot be met is refused,
because a chart that leaves it out would be believed.
*/}}
{{- define "kepler.upstreamSections" -}}
[cpu, rapl, exporter, debug, dev, experimental]
{{- end -}}

{{/* true if .Values.config has a key that only upstream's has */}}
{{- define "kepler.isUpstreamConfig" -}}
{{- $config := .Values.config -}}
{{- $found := false -}}
{{- range include "kepler.upstreamSections" . | fromYamlArray -}}
{{- if hasKey $config . }}{{ $found = true }}{{ end -}}
{{- end -}}
{{- range $pair := list (list "web" "listenAddresses") (list "web" "configFile") (list "kube" "enabled") (list "kube" "podInformer")
    (list "monitor" "staleness") (list "monitor" "maxTerminated") -}}
{{- if hasKey (dig (first $pair) dict $config | default dict) (last $pair) }}{{ $found = true }}{{ end -}}
{{- end -}}
{{- if $found }}true{{ end -}}
{{- end -}}

{{/* Where the pods' names come from: apiserver, kubelet or off. The role follows it, and upstream's chart always asks for names. */}}
{{- define "kepler.pods" -}}
{{- $mode := dig "kube" "podInformer" "mode" "" .Values.config -}}
{{- $mode | default (dig "kube" "pods" "apiserver" .Values.config) | toString | replace "false" "off" -}}
{{- end -}}

{{/* The first address in web.listen-address, as upstream's file has it or ours. */}}
{{- define "kepler.addresses" -}}
{{- $web := .Values.config.web | default dict -}}
{{- index $web "listen-address" | default $web.listenAddresses | default (list ":28282") | toYaml -}}
{{- end -}}

{{- define "kepler.port" -}}
{{- $first := include "kepler.addresses" . | fromYamlArray | first -}}
{{- $port := regexFind ":[0-9]+$" $first | trimPrefix ":" -}}
{{- $port | required (printf "config.web.listen-address: the first address must be [ADDRESS]:PORT in a pod, not %q" $first) -}}
{{- end -}}

{{- define "kepler.refuse" -}}
{{- $config := .Values.config -}}
{{- range $case := list
    (list "rapl.zones" (list) "all zones are read; drop series in Prometheus with metric_relabel_configs")
    (list "exporter.prometheus.enabled" true "metrics are always served")
    (list "debug.pprof.enabled" false "there is no Go runtime")
    (list "kube.config" "" "a pod uses its service account")
    (list "kube.nodeName" "" "the node's name comes from the pod")
    (list "dev.fake-cpu-meter.enabled" false "there is no simulated meter; without a meter, power is estimated, and marked so")
    (list "experimental.platform.redfish.enabled" false "use redfish.enabled, with redfish.existingSecret")
    (list "experimental.hwmon.zones" (list) "use config.meter.hwmon")
    (list "experimental.hwmon.chipRules" (list) "use config.meter.hwmon")
    (list "experimental.gpu.idlePower" 0 "idle power is learned; use config.idle.mode: fixed and config.idle.watts") -}}
{{- $at := $config -}}
{{- $has := true -}}
{{- range splitList "." (first $case) -}}
{{- if and $has (kindIs "map" $at) (hasKey $at .) }}{{ $at = index $at . }}{{ else }}{{ $has = false }}{{ end -}}
{{- end -}}
{{- $wanted := index $case 1 -}}
{{- if and $has (not (or (eq (toString $at) (toString $wanted)) (and (not $at) (not $wanted)))) -}}
{{- fail (printf "config.%s: %s is upstream's and cannot be met here: %s" (first $case) (toString $at) (last $case)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* kepler.yaml, as JSON, which is YAML: toYaml writes a whole number above 999999 as 1e+06. */}}
{{- define "kepler.config" -}}
{{- include "kepler.refuse" . -}}
{{- $in := deepCopy .Values.config -}}
{{- $out := omit $in "cpu" "rapl" "exporter" "debug" "dev" "experimental" -}}
{{- if include "kepler.isUpstreamConfig" . -}}
{{- if not (dig "metrics" "schema" "" $in) -}}
{{- $_ := set $out "metrics" (merge (dict "schema" "current") ($in.metrics | default dict)) -}}
{{- end -}}
{{- if hasKey (dig "exporter" "stdout" dict $in) "enabled" -}}
{{- $_ := set $out "table" ($in.exporter.stdout.enabled | ternary "always" "never") -}}
{{- end -}}
{{- with $in.monitor -}}
{{- $_ := set $out "monitor" (omit . "staleness" "maxTerminated" "minTerminatedEnergyThreshold") -}}
{{- end -}}
{{- end -}}
{{- $web := omit ($in.web | default dict) "listenAddresses" "configFile" -}}
{{- $_ := set $web "listen-address" (include "kepler.addresses" . | fromYamlArray) -}}
{{- with dig "web" "configFile" "" $in }}{{ $_ := set $web "config-file" . }}{{ end -}}
{{- if .Values.web.existingSecret }}{{ $_ := set $web "config-file" "/etc/kepler-web/web-config.yml" }}{{ end -}}
{{- $_ := set $out "web" $web -}}
{{- $host := omit ($in.host | default dict) "sysfs" "procfs" "cgroupfs" -}}
{{- $_ := set $out "host" (merge (dict "sysfs" "/host/sys" "cgroupfs" "/host/sys/fs/cgroup") $host) -}}
{{- $kube := omit ($in.kube | default dict) "pods" "enabled" "config" "nodeName" "podInformer" -}}
{{- if $kube }}{{ $_ := set $out "kube" $kube }}{{ else }}{{ $_ := unset $out "kube" }}{{ end -}}
{{- range $key, $value := $out }}{{ if and (kindIs "map" $value) (not $value) }}{{ $_ := unset $out $key }}{{ end }}{{ end -}}
{{- $out | toPrettyJson -}}
{{- end -}}
