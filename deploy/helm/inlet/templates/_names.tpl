{{- define "inlet.labels" -}}
app.kubernetes.io/name: inlet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
