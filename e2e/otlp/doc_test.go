// SPDX-License-Identifier: Apache-2.0

// Package otlp_test delivers lines to real receivers of OTLP while the services
// and the receivers are killed: the OpenTelemetry Collector, VictoriaLogs and
// Loki.
package otlp_test
