{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Names and labels, as upstream's chart makes them: a release of that chart can be upgraded to this one. */}}
{{- define "kepler.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "kepler.fullname" -}}
{{- $name := include "kepler.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $full | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "kepler.namespace" -}}
{{- if .Values.namespace.create -}}
{{- .Values.namespace.name | default .Release.Namespace -}}
{{- else -}}
{{- .Release.Namespace -}}
{{- end -}}
{{- end -}}

{{- define "kepler.serviceAccountName" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "kepler.fullname" .) "default" -}}
{{- .Values.serviceAccount.name | default $own -}}
{{- end -}}

{{- define "kepler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kepler.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The labels of an object of the part .part, a suffix of the name such as "-model-server", or none. */}}
{{- define "kepler.partSelector" -}}
app.kubernetes.io/name: {{ include "kepler.name" .root }}{{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{/* metadata of the object .name of the part .part; more labels and annotations in .labels and .annotations. */}}
{{- define "kepler.metadata" -}}
{{- $root := .root -}}
name: {{ .name }}
{{- if not .cluster }}
namespace: {{ include "kepler.namespace" $root }}
{{- end }}
labels:
  {{- $own := dict "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") }}
  {{- $_ := set $own "app.kubernetes.io/version" $root.Chart.AppVersion }}
  {{- $_ := set $own "app.kubernetes.io/managed-by" $root.Release.Service }}
  {{- $_ := set $own "app.kubernetes.io/part-of" "kepler" }}
  {{- $selector := include "kepler.partSelector" (dict "root" $root "part" (.part | default "")) | fromYaml }}
  {{- mergeOverwrite $own $root.Values.labels (.labels | default dict) $selector | toYaml | nindent 2 }}
{{- with mergeOverwrite (dict) $root.Values.annotations (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* REPOSITORY:TAG or REPOSITORY@DIGEST of the image .image. */}}
{{- define "kepler.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* An API server before 1.30 refuses recursiveReadOnly. */}}
{{- define "kepler.recursive" -}}
{{- if semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version -}}
recursiveReadOnly: IfPossible
{{- end -}}
{{- end -}}

{{/* The probe .probe: upstream's form has a request, which is not ours to make. */}}
{{- define "kepler.probe" -}}
{{- $get := dict "path" .path "port" "metrics" -}}
{{- if .root.Values.web.tls }}{{ $_ := set $get "scheme" "HTTPS" }}{{ end -}}
{{- merge (dict "httpGet" $get) (omit .probe "httpGet" "exec" "tcpSocket" "grpc") | toYaml -}}
{{- end -}}

{{/* What PodMonitor and ServiceMonitor .monitor ask of each pod. */}}
{{- define "kepler.endpoint" -}}
port: metrics
interval: {{ .monitor.interval }}
{{- if ne .monitor.path "/metrics" }}
path: {{ .monitor.path }}
{{- end }}
{{- if .root.Values.web.tls }}
scheme: https
{{- end }}
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.authorization }}
authorization:
  {{- toYaml . | nindent 2 }}
{{- end }}
relabelings:
  - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: instance}
{{- end -}}
