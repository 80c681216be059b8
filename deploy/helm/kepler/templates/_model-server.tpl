{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "kepler.modelServer.name" -}}
{{- printf "%s-model-server" (include "kepler.fullname" .) -}}
{{- end -}}

{{- define "kepler.modelServer.url" -}}
{{- $own := printf "http://%s.%s.svc:8100" (include "kepler.modelServer.name" .) (include "kepler.namespace" .) -}}
{{- .Values.modelServer.url | default $own -}}
{{- end -}}
