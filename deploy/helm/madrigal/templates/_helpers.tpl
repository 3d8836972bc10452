{{- define "madrigal.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}-madrigal
{{- end }}

{{- define "madrigal.selector" -}}
app.kubernetes.io/name: madrigal
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "madrigal.labels" -}}
{{ include "madrigal.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "madrigal.image" -}}
{{- if .Values.image.digest }}
{{- .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}
{{- .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}
