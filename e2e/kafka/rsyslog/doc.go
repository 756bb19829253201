// SPDX-License-Identifier: Apache-2.0

// Package rsyslog has the configuration of an rsyslog that stands between
// services and Kafka, and its tests with a real rsyslog and a real Kafka.
package rsyslog
