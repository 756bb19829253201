// SPDX-License-Identifier: Apache-2.0

//go:build goexperiment.jsonv2

package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/nib-log/nib/bench/codec/record"
	"github.com/nib-log/nib/schema"
)

// A contestant writes into memory that it keeps.
type contestant struct {
	name string
	do   func(n int)
	text func() []byte // returns the text of the last operation
}

func structs() []contestant {
	codec := schema.MustFor[record.Line]()
	return []contestant{
		appending(func(dst []byte) ([]byte, error) { return codec.AppendJSON(dst, &record.Served) }),
		second(&record.Served), first(&record.Served),
	}
}

func maps() []contestant {
	return []contestant{
		appending(func(dst []byte) ([]byte, error) { return schema.AppendMap(dst, record.SixMap) }),
		second(record.SixMap), first(record.SixMap),
	}
}

func appending(f func(dst []byte) ([]byte, error)) contestant {
	var buf []byte
	return contestant{"nib", func(n int) {
		for range n {
			var err error
			if buf, err = f(buf[:0]); err != nil {
				panic(err)
			}
		}
	}, func() []byte { return buf }}
}

// second is encoding/json/v2.
func second(v any) contestant {
	var buf bytes.Buffer
	return contestant{"encoding/json/v2", func(n int) {
		for range n {
			buf.Reset()
			if err := marshal(&buf, v); err != nil {
				panic(err)
			}
		}
	}, buf.Bytes}
}

// first is encoding/json, which is built on encoding/json/v2 here.
func first(v any) contestant {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	return contestant{"encoding/json", func(n int) {
		for range n {
			buf.Reset()
			if err := e.Encode(v); err != nil {
				panic(err)
			}
		}
	}, buf.Bytes}
}

// check compares the output of one operation with want. All three write the
// same text except for white space.
func (c *contestant) check(want string) error {
	c.do(1)
	var got, expected bytes.Buffer
	if err := json.Compact(&got, c.text()); err != nil {
		return err
	}
	if err := json.Compact(&expected, []byte(want)); err != nil {
		return err
	}
	if text := bytes.TrimSpace(got.Bytes()); !bytes.Equal(text, expected.Bytes()) {
		return fmt.Errorf("writes %s, want %s", text, want)
	}
	return nil
}
