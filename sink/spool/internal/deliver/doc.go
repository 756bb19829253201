// SPDX-License-Identifier: Apache-2.0

// Package deliver reads the records of a spool and delivers them to a
// destination.
//
// A [Delivery] is one destination and the goroutine that serves it. It reads a
// segment (read.go), hands batches over until all of them are settled, with
// growing pauses after failures (delivery.go, outage.go), and counts and stores
// the progress (settle.go). A destination that remembers what it has is asked
// for that first (resume.go), and records that it rejects are kept in a file
// (reject.go). A segment that cannot be read is read again (reread.go), and one
// of this process that has lost pages is read from a copy (rescue.go).
//
// What a Delivery needs of the spool is the interface [Spool]: the segments
// that exist, as [Link]s, and the lock that protects these and the progress of
// all deliveries.
package deliver
