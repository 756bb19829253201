// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/json"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/nib-log/nib/bench/codec/pb"
	"github.com/nib-log/nib/bench/codec/record"
)

// protobuf encodes a message that has been filled already.
func protobuf(w io.Writer) func(n int) {
	m := toProtobuf(&record.Served)
	var kept []byte
	return func(n int) {
		buf := kept
		for range n {
			var err error
			if buf, err = (proto.MarshalOptions{}).MarshalAppend(buf[:0], m); err != nil {
				panic(err)
			}
		}
		kept = buf
		show(w, buf)
	}
}

func toProtobuf(l *record.Line) *pb.Line {
	return &pb.Line{
		Service: l.Service, Method: l.Method, Path: l.Path, Status: int64(l.Status), Bytes: l.Bytes,
		Attempt: uint32(l.Attempt), DurationMs: l.Duration, Cached: l.Cached, TimeUnixNano: uint64(l.Time.UnixNano()),
		Tags: l.Tags, User: &pb.User{Id: l.User.ID, Name: l.User.Name}, Labels: l.Labels,
	}
}

// fromProtobuf returns the JSON of a message. It has no empty maps, only none.
func fromProtobuf(written []byte) ([]byte, error) {
	var m pb.Line
	if err := proto.Unmarshal(written, &m); err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for k, v := range m.Labels {
		labels[k] = v
	}
	return json.Marshal(&record.Line{
		Service: m.Service, Method: m.Method, Path: m.Path, Status: int(m.Status), Bytes: m.Bytes,
		Attempt: uint8(m.Attempt), Duration: m.DurationMs, Cached: m.Cached, Time: time.Unix(0, int64(m.TimeUnixNano)).UTC(),
		Tags: m.Tags, User: &record.User{ID: m.User.GetId(), Name: m.User.GetName()}, Labels: labels,
	})
}
