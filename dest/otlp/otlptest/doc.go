// SPDX-License-Identifier: Apache-2.0

// Package otlptest has the tests of dest/otlp that decode requests with
// OpenTelemetry's own protobuf types, of which users of dest/otlp need none.
package otlptest
