// SPDX-License-Identifier: Apache-2.0

package segment

import "hash/crc32"

// Each process that opens a spool draws a random number, its stream. With the
// number of a record, the stream of the process that has accepted it identifies
// the record: nothing that can be restored from a backup can give an identity a
// second time. The decision is described in
// docs/decisions/2026-11-27-who-gives-an-identity-makes-it.md.
//
// The header of a segment has the stream of the process that made it, and a
// list of the streams of the processes that continued it. Each record has the
// lower half of its stream, the label, by which its stream is found there.
const (
	StreamsAt   = 896
	streamsSize = 16 // the stream, and a checksum
	MaxStreams  = 128
	StreamsEnd  = StreamsAt + MaxStreams*streamsSize
)

// labelOf returns the label of the records of a stream.
func labelOf(stream uint64) uint32 { return uint32(stream) }

// streamCheck returns the word after a stream in the list.
func streamCheck(at int, stream uint64, seed uint32) uint64 {
	b := le.AppendUint64(le.AppendUint16(make([]byte, 0, 10), uint16(at)), stream)
	return 1<<32 | uint64(crc32.Update(seed, castagnoli, b))
}

// ReadStreams reads the list in a header. An entry that is damaged, in front of
// others, is 0.
func (id Identity) ReadStreams(b []byte) (list []uint64) {
	for i := range MaxStreams {
		at := StreamsAt + i*streamsSize
		if at+streamsSize > len(b) {
			break
		}
		stream := le.Uint64(b[at:])
		if stream == 0 || le.Uint64(b[at+8:]) != streamCheck(at, stream, id.Seed()) {
			continue
		}
		list = append(append(list, make([]uint64, i-len(list))...), stream)
	}
	return list
}

// StreamOf returns the stream of a record of the segment. If the list has lost
// it, the label still distinguishes the record from the records of the other
// processes: then the stream is made of the label.
func (g *Old) StreamOf(rec []byte) uint64 {
	label := le.Uint32(rec[24:])
	switch {
	case g.Stream == 0: // version 1
		return g.Spool
	case labelOf(g.Stream) == label:
		return g.Stream
	}
	for _, stream := range g.Streams {
		if stream != 0 && labelOf(stream) == label {
			return stream
		}
	}
	return uint64(g.Seed())<<32 | uint64(label)
}

// indexOf returns the index in the list for the stream of a process that
// continues the segment. ok is false if the list is full, or has another stream
// with the same label. A process that has left no record leaves its place to
// the next one, so that a process that is restarted again and again does not
// fill the list.
func (g *Old) indexOf(stream uint64) (i int, ok bool) {
	i = len(g.Streams)
	if i > 0 && labelOf(g.Streams[i-1]) != g.Label {
		i--
	}
	if g.Stream == 0 || labelOf(g.Stream) == labelOf(stream) {
		return 0, false
	}
	for _, other := range g.Streams[:i] {
		if labelOf(other) == labelOf(stream) {
			return 0, false
		}
	}
	return i, i < MaxStreams
}

// CanContinue reports whether a process may continue the segment: it has a
// known end, and room for the stream.
func (g *Old) CanContinue(stream uint64) bool {
	_, ok := g.indexOf(stream)
	return ok && g.Used != 0
}

// continueIn stores the stream of this process in the list of s, which is the
// segment.
func (g *Old) continueIn(s *Segment, stream uint64) error {
	i, _ := g.indexOf(stream)
	at := StreamsAt + i*streamsSize
	if err := s.setWord(at, stream); err != nil {
		return err
	}
	if err := s.setWord(at+8, streamCheck(at, stream, s.crc)); err != nil {
		return err
	}
	g.Streams = append(g.Streams[:i:i], stream)
	s.label, s.Continued = labelOf(stream), true
	return nil
}
