// SPDX-License-Identifier: Apache-2.0

// Package deliver reads the records of a spool and delivers them to a
// destination.
//
// A [Delivery] is one destination and the goroutine that serves it. It reads a
// segment (read.go), delivers batches until all of them are settled, with
// growing pauses after failures (delivery.go, outage.go), and counts and stores
// the progress (settle.go). If the destination is a [delivery.Resumer], it
// first settles the records that the destination already has (resume.go).
// Rejected records are kept in a file (reject.go). A segment that cannot be
// read is read again, and one of this process that has lost pages is read from
// a copy (rescue.go). A segment that is dropped to make room is a [Drop].
//
// A [Chain] has the existing segments, as [Link]s, and the lock that protects
// them and the progress of all deliveries. The interface [Spool] has what a
// Delivery calls.
package deliver
