// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"encoding/binary"
	"testing"

	. "github.com/nib-log/nib/dest/kafka"
)

// isPerSpool reports whether all records of a spool are in one partition.
func isPerSpool(c Config) bool { return c.Key == nil && !c.RoundRobin }

// A producer is an id assigned by brokers, and its epoch.
type producer struct {
	id    int64
	epoch int16
}

// A mark is a result of Destination.Mark, read independently of the code under
// test.
type mark struct {
	mode        byte // 0: a partition for each spool, 1: by keys, 2: round robin
	spread, any bool
	sum         uint32
	partition   int32
	offset      int64
	sequence    int32
	current     producer
	previous    int64
}

// readMark decodes a mark.
func readMark(t testing.TB, b []byte) (m mark) {
	t.Helper()
	if len(b) != 40 || b[0] != 2 {
		t.Fatalf("%x is no mark", b)
	}
	m.mode, m.spread, m.any = b[1]&^(1<<7|1<<6), b[1]&(1<<7) != 0, b[1]&(1<<6) != 0
	be := binary.BigEndian
	m.sum, m.partition, m.offset, m.sequence = be.Uint32(b[2:]), int32(be.Uint32(b[6:])), int64(be.Uint64(b[10:])), int32(be.Uint32(b[18:]))
	m.current = producer{int64(be.Uint64(b[22:])), int16(be.Uint16(b[30:]))}
	m.previous = int64(be.Uint64(b[32:]))
	return m
}

// encode encodes a mark that is not spread.
func (m mark) encode() []byte {
	be := binary.BigEndian
	b := be.AppendUint32([]byte{2, byte(m.mode)}, m.sum)
	b = be.AppendUint32(b, uint32(m.partition))
	b = be.AppendUint64(b, uint64(m.offset))
	b = be.AppendUint32(b, uint32(m.sequence))
	b = be.AppendUint64(b, uint64(m.current.id))
	b = be.AppendUint16(b, uint16(m.current.epoch))
	return be.AppendUint64(b, uint64(m.previous))
}

// has reports whether the mark contains a producer.
func (m mark) has(id int64) bool { return id == m.current.id || id == m.previous }
