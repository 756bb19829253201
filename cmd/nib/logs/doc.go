// SPDX-License-Identifier: Apache-2.0

// Package logs reads log lines from files, compressed files, rotated sets,
// standard input, spools, exports of the journal and Kafka topics, selects some
// of them by queries of package logread, and writes them for people or
// programs. Lines of several sources are merged by time.
package logs
