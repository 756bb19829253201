// SPDX-License-Identifier: Apache-2.0

// Package shop_test runs the program of examples/shop, with PostgreSQL, a
// Kafka cluster in the process, and the OpenTelemetry Collector, and follows
// requests through its lines.
package shop_test
