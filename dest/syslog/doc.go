// SPDX-License-Identifier: Apache-2.0

// Package syslog sends lines to a syslog receiver.
package syslog
