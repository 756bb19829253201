// SPDX-License-Identifier: Apache-2.0

// Package pipeline tests the whole path of a line: a service with logrus (old)
// and one with nib (new), which write the same fixed format (contract), each
// with a spool; rsyslog; Kafka; and a consumer that validates each record
// against the JSON Schema of the struct. To see it run:
//
//	NIB_E2E=short go test -v -run TestPipeline ./pipeline
package pipeline
