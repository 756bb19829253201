// SPDX-License-Identifier: Apache-2.0

// Package otlptest has the tests of dest/otlp that decode requests with
// OpenTelemetry's protobuf types, which users of dest/otlp do not need.
package otlptest
