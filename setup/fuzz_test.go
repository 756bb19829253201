// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target"
)

// FuzzOutputs checks that a configuration read without a fault is valid, and
// the same after a round trip as JSON, and that each fault has a place.
func FuzzOutputs(f *testing.F) {
	for _, text := range []string{
		"stdout", "stdout?buffer=64KiB&delay=1ms,stderr?level=warn", "file:/x?at=00:00&at=12:30&max_age=7d&mode=0640",
		"file:C:\\a?b", "journald?prefix=X", ",", "?", ":", "stdout?", "stdout?&", "stdout?=", "file:%", "file:%00", "file:a%2Cb%3F%26%3D%25",
		"syslog+tcp://a:1?spool=memory&on_full=error:block:1s", "fake://a:1,b:2/logs?spool=/x,file://y",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := env{"NIB_OUTPUT": text}.readWith(fakeKind)
		if err != nil {
			if len(places(err)) == 0 {
				t.Errorf("%q: %v is not a list of faults", text, err)
			}
			return
		}
		c.Kinds = []target.Spec{fakeKind}
		if err := c.Validate(); err != nil {
			t.Errorf("%q is read without a fault, and has one: %v", text, err)
		}
		data, _ := json.Marshal(c)
		var again Config
		if err := json.Unmarshal(data, &again); err != nil || utf8.ValidString(text) && !reflect.DeepEqual(again.Output, c.Output) {
			t.Errorf("%+v has JSON %s, which is read as %+v, %v", c, data, again, err)
		}
	})
}

// FuzzJSON checks that no text causes a panic, that JSON which encoding/json
// rejects has a fault, and that a configuration without one is the same after a
// round trip.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"level":"warn,db=debug","output":["stdout",{"to":"file","path":"x","max_size":"1MB","at":["00:00"]}],"fields":{"a":"b"},"caller":true}`,
		`{"output":{"to":"stdout","buffer":1}}`, `{"output":[[]]}`, `[]`, `null`, `{"level":{}}`, `{"a":1,"a":2}`, `{"fields":{"\ud800":"x"}}`, "{\"output\":[ null , 1]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(Load(bytes.NewReader(data)))
		if !json.Valid(data) && err == nil {
			t.Fatalf("%q is not JSON, and was read", data)
		}
		if err != nil {
			if len(places(err)) == 0 {
				t.Errorf("%q: %v is not a list of faults", data, err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%q is read without a fault, and has one: %v", data, err)
		}
		text, err := json.Marshal(c)
		must.Succeed(t, err)
		var again Config
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v has JSON %s, which is read as %+v, %v", c, text, again, err)
		}
	})
}

// FuzzEnvironment checks that a fault in a variable does not hide one in
// another.
func FuzzEnvironment(f *testing.F) {
	f.Add("info", "json", "stdout", "5s", "a=b", "on")
	f.Add("inof", "xml", "file", "5", "a", "yes")
	f.Add("a=b=c,,", "", "?", "-1d", "=,=", "")
	f.Fuzz(func(t *testing.T, level, format, output, timeout, fields, caller string) {
		all := env{"NIB_LEVEL": level, "NIB_FORMAT": format, "NIB_OUTPUT": output, "NIB_TIMEOUT": timeout, "NIB_FIELDS": fields, "NIB_CALLER": caller}
		c, err := all.read()
		var alone int
		for name, text := range all {
			_, err := env{name: text}.read()
			alone += len(places(err))
		}
		if got := len(places(err)); got != alone {
			t.Errorf("got %d faults together, and %d one by one: %v", got, alone, err)
		}
		if err == nil {
			if err := c.Validate(); err != nil {
				t.Errorf("%q is read without a fault, and has one: %v", all, err)
			}
		}
	})
}
