// SPDX-License-Identifier: Apache-2.0

// Package otlp_test delivers lines to real receivers while the service and the
// receiver are killed: to the OpenTelemetry Collector, which is built into the
// cache once, 76 s.
package otlp_test
