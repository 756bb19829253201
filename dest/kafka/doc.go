// SPDX-License-Identifier: Apache-2.0

// Package kafka delivers lines from a spool to a Kafka topic.
//
//	out, err := kafka.New([]string{"broker1:9092", "broker2:9092"}, "logs", kafka.Config{})
//	if err != nil {
//		return err
//	}
//	defer out.Close()
//	s, err := spool.Open("/var/spool/app", out, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s)
//
// The value of a record is the line without its newline; its timestamp is the
// time of the line in milliseconds. The headers are all text:
//
//	level    debug, info, warn, …
//	time     Unix nanoseconds
//	logger   the name, if there is one
//	spool    a random number of the process, 16 hexadecimal digits
//	seq      the number of the record
//
// # Exactly-once delivery
//
// A record is acknowledged when all in-sync replicas have it. Deliveries are
// idempotent: each batch has a producer id and a sequence number, and the
// leader of a partition accepts it only if the number is the next one. So a
// batch whose response was lost is sent again unchanged and is appended once,
// even if the broker, the connection or the leader has changed in between.
//
// Producers of client libraries lose their id with the process, so requests
// that were in flight when it was killed are duplicated. Here the id and the
// sequence number are stored with the cursor of the spool ([Destination.Mark]),
// and the next process continues as the same producer. It reads the records
// after the mark ([Destination.Resume]). If another request of its predecessor
// arrives after that, either that request or the new one is out of sequence. If
// the new request is, the partition is read again. For this the package makes
// produce requests itself, and leaves connections, metadata and compression to
// franz-go.
//
// docs/kafka.md describes what can still be lost or duplicated, and when.
package kafka
