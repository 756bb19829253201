// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rsyslog

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// check reads the topic as a careful consumer would: each message must equal
// the sent one, byte for byte, and meet the schema of the struct.
func (s *sender) check(addrs []string, begin int) verdict {
	s.t.Helper()
	contract := compile(s.t, codec.JSONSchema())
	v := verdict{there: make([]bool, len(s.lines))}
	latest := -1
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	err := topic.Read(ctx, addrs, "logs", func(m topic.Message) bool {
		v.end++
		if v.end <= begin {
			return true
		}
		n := number(m.Value)
		if n < 0 || n >= len(s.lines) || !bytes.Equal(m.Value, bytes.TrimSuffix(s.lines[n], []byte("\n"))) {
			v.changed++
			if v.changed == 1 {
				s.t.Logf("changed: %q", m.Value)
			}
			return true
		}
		if v.there[n] {
			v.twice++
		} else if n < latest {
			v.disorder++
		}
		v.there[n], latest = true, max(latest, n)
		if n%50 == 0 && validate(contract, m.Value) != nil { // it is slow, and all have the same shape
			v.invalid++
		}
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("line.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("line.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(s *jsonschema.Schema, line []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// The validation must be able to fail.
func TestContract(t *testing.T) {
	contract := compile(t, codec.JSONSchema())
	for _, line := range []string{
		`{"service":"billing","msg":"m","task_id":"","log_date":"d","n":"1","text":""}`,
		`{"service":"billing","msg":"m","log_date":"d","n":1,"text":""}`,
		`{"service":"billing","msg":"m","task_id":null,"log_date":"d","n":1,"text":""}`,
	} {
		if validate(contract, []byte(line)) == nil {
			t.Errorf("%s is valid", line)
		}
	}
}
