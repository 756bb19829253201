// SPDX-License-Identifier: Apache-2.0

// Package kafka delivers lines to a topic of Kafka, from a spool.
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
// The value of a record is the line without its newline, its timestamp is the time of
// the line in milliseconds. Headers, all of them text:
//
//	level    debug, info, warn, …
//	time     Unix nanoseconds
//	logger   the name, if there is one
//	spool    the spool's id, 16 hexadecimal digits
//	seq      the number of the record within the spool
//
// # Once and in order
//
// A record is acknowledged when all in-sync replicas have it. Deliveries are
// idempotent: each batch carries the id of a producer and a sequence number, and the leader
// of a partition takes it if the number is the next one. So a batch whose answer got
// lost is sent again as it was and appended once, whether the broker, the connection or
// the leader has changed meanwhile.
//
// A producer as libraries offer it forgets its id with the process, and what was
// under way when the process was killed comes twice. Here the id and the
// sequence are stored with the cursor of the spool ([Destination.Mark]), and the next process goes on as the
// same producer: it reads what has arrived behind the mark ([Destination.Resume]),
// and if another request of its predecessor arrives after that, either that one or the
// new one is out of sequence. In the latter case the partition is read again. This is
// why the package makes produce requests itself, and leaves connections, metadata and
// compression to franz-go.
//
// docs/kafka.md tells what can still be lost or come twice, and when.
package kafka
