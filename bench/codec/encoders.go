// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/bytedance/sonic/encoder"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/nib-log/nib/bench/codec/record"
	"github.com/nib-log/nib/schema"
)

// encoders returns the contests of JSON encoders. Each is used as its
// documentation recommends for speed, writes into memory that it keeps, and
// does no HTML escaping.
func encoders() []Scenario {
	return []Scenario{
		{Name: "JSONStruct", Title: "a struct of 12 fields", Want: record.WantServed, Contestants: append(
			[]Contestant{{Name: Nib, New: nibStruct(schema.MustFor[record.Line](), &record.Served)}}, peers(&record.Served)...)},
		{Name: "JSONMap", Title: "a map[string]any of 6 entries, sorted", Want: record.WantSix, Contestants: append(
			[]Contestant{
				{Name: Nib, New: nibMap(record.SixMap)},
				{Name: NibStruct, New: nibStruct(schema.MustFor[record.Six](), &record.SixStruct)},
			}, peers(record.SixMap)...)},
	}
}

func peers(v any) []Contestant {
	return []Contestant{
		{Name: StdJSON, New: stdJSON(v)},
		{Name: Iterator, New: iterator(v)},
		{Name: GoJSON, New: goJSON(v)},
		{Name: Sonic, New: sonic(v)},
		{Name: Segmentio, New: segment(v)},
	}
}

func nibStruct[T any](codec *schema.Codec[T], v *T) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var kept []byte
		return func(n int) {
			buf := kept
			for range n {
				var err error
				if buf, err = codec.AppendJSON(buf[:0], v); err != nil {
					panic(err)
				}
			}
			kept = buf
			show(w, buf)
		}
	}
}

func nibMap(m map[string]any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var kept []byte
		return func(n int) {
			buf := kept
			for range n {
				var err error
				if buf, err = schema.AppendMap(buf[:0], m); err != nil {
					panic(err)
				}
			}
			kept = buf
			show(w, buf)
		}
	}
}

func stdJSON(v any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		return func(n int) {
			for range n {
				buf.Reset()
				if err := e.Encode(v); err != nil {
					panic(err)
				}
			}
			show(w, buf.Bytes())
		}
	}
}

// iterator writes floats with at most six digits, as its fastest configuration
// does.
func iterator(v any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		api := jsoniter.Config{SortMapKeys: true, MarshalFloatWith6Digits: true, ObjectFieldMustBeSimpleString: true}.Froze()
		stream := jsoniter.NewStream(api, nil, 512)
		return func(n int) {
			for range n {
				stream.Reset(nil)
				if stream.WriteVal(v); stream.Error != nil {
					panic(stream.Error)
				}
			}
			show(w, stream.Buffer())
		}
	}
}

func goJSON(v any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var buf bytes.Buffer
		e := goccy.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		return func(n int) {
			for range n {
				buf.Reset()
				if err := e.Encode(v); err != nil {
					panic(err)
				}
			}
			show(w, buf.Bytes())
		}
	}
}

// sonic does not check that strings are UTF-8. That is its default.
func sonic(v any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var kept []byte
		return func(n int) {
			buf := kept
			for range n {
				buf = buf[:0]
				if err := encoder.EncodeInto(&buf, v, encoder.SortMapKeys); err != nil {
					panic(err)
				}
			}
			kept = buf
			show(w, buf)
		}
	}
}

func segment(v any) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		var kept []byte
		return func(n int) {
			buf := kept
			for range n {
				var err error
				if buf, err = segmentio.Append(buf[:0], v, segmentio.SortMapKeys); err != nil {
					panic(err)
				}
			}
			kept = buf
			show(w, buf)
		}
	}
}

// show writes the result of the last operation, once per round.
func show(w io.Writer, text []byte) {
	if _, err := w.Write(text); err != nil {
		panic(err)
	}
}
