// SPDX-License-Identifier: Apache-2.0

package klog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogr"
	"k8s.io/klog/v2/test"
)

// An asKlog writes the fields of a line as klog's text output has them.
type asKlog struct{ w io.Writer }

func (s asKlog) WriteRecord(r *nib.Record) error {
	severity := "I"
	if r.Level >= nib.LevelError {
		severity = "E"
	}
	caller, _ := r.Lookup("caller")
	file := strings.TrimPrefix(strings.Trim(string(caller), `"`), "test/")
	message, _ := r.Lookup("msg")
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s] %s", severity, file, unescaped(message))
	for key, value := range r.Fields() {
		switch string(key) {
		case "level", "caller", "msg":
			continue
		}
		key, _ := strconv.Unquote(`"` + string(key) + `"`)
		fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(key, "field."), unescaped(value))
	}
	b.WriteByte('\n')
	_, err := s.w.Write(b.Bytes())
	return err
}

// unescaped quotes a text as klog does, with klog's words for errors, and
// leaves other values alone.
func unescaped(raw []byte) string {
	var s string
	if string(raw) == "null" || json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if s == "!ERROR: no value" {
		s = "(MISSING)"
	}
	if what, ok := strings.CutPrefix(s, "!PANIC: "); ok {
		s = "<panic: " + what + ">"
	}
	return strconv.Quote(s)
}

func newLogger(out io.Writer, v int, _ string) logr.Logger {
	return niblogr.New(nib.NewSink(asKlog{out}, nib.WithCaller(), nib.WithLevel(-nib.Level(v)),
		nib.WithDuplicateKeys(nib.DuplicatesLastWins),
		nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, MessageKey: "msg", ErrorKey: "err", Duration: nib.DurationString})))
}

// differences maps lines of klog to lines of niblogr, where they differ:
//   - a nil error or Stringer is null;
//   - a logr.Marshaler is the result of MarshalLog, also where klog prefers the
//     text;
//   - keys that are not strings have another form;
//   - a value that contains itself has another error;
//   - of equal keys the last stays where it is, rather than where the first
//     was;
//   - the newline at the end of unstructured messages is cut;
//   - the level of the nib.Logger applies also where klog's -vmodule enables
//     more.
var differences = differencesOf(`
E "error nil" err="<panic: runtime error: invalid memory address or nil pointer dereference>"
E "error nil" err=null
I "stringer nil" stringer="<panic: runtime error: invalid memory address or nil pointer dereference>"
I "stringer nil" stringer=null
I "marshaler nil" obj="<panic: value method k8s.io/klog/v2.ObjectRef.WriteText called using nil *ObjectRef pointer>"
I "marshaler nil" obj="<panic: value method k8s.io/klog/v2.ObjectRef.MarshalLog called using nil *ObjectRef pointer>"
I "test" pod="kube-system/pod-1"
I "test" pod={"name":"pod-1","namespace":"kube-system"}
I "KObjSlice" pods=["kube-system/pod-1","kube-system/pod-2"]
I "KObjSlice" pods=[{"name":"pod-1","namespace":"kube-system"},{"name":"pod-2","namespace":"kube-system"}]
I "test" pods=["kube-system/pod-1",null]
I "test" pods=[{"name":"pod-1","namespace":"kube-system"},null]
I "test" ints=["<KObjSlice needs a slice of values implementing KMetadata, got type int>"]
I "test" ints="<KObjSlice needs a slice of values implementing KMetadata, got type int>"
I "klog.Format" s=< { "Name": "worker", "Kind": "pod" } >
I "klog.Format" s={"Name":"worker","Kind":"pod"}
I "Format" config=< { "Kind": "config", "RealField": 42 } >
I "Format" config={"Kind":"config","RealField":42}
I "integer keys" %!s(int=1)="value" %!s(int=2)="value2" akey="avalue" akey2="(MISSING)"
I "integer keys" 1="value" 2="value2" akey="avalue" akey2="(MISSING)"
I "struct keys" {name}="value" test="other value" key="val"
I "struct keys" struct { name string }="value" test="other value" key="val"
I "map keys" map[test:%!s(bool=true)]="test"
I "map keys" map[string]bool="test"
I "cycle" list="<internal error: json: unsupported value: encountered a cycle via *test.myList>"
I "cycle" list="!ERROR: *test.myList` + strings.Repeat(".Next", 32) + `: nested too deep"
I "helloworld\n"
I "helloworld"
I "hello world\n"
I "hello world"
I "hellooneworld\n"
I "hellooneworld"
I "hello one world\n"
I "hello one world"
E "helloworld\n"
E "helloworld"
E "hello world\n"
E "hello world"
`)

// differencesOf reads pairs of lines, of klog and of niblogr, with the place
// left out and with klog's objects on one line.
func differencesOf(text string) map[string]string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	place := func(line string) string { return line[:1] + " output.go:<LINE>]" + line[1:] + "\n" }
	pairs := map[string]string{
		place(`I "duplicates" trace="T" span="0102030405060708" a=1`) + place(`I "duplicates" trace="T" a=1 b=2 span="1112131415161718"`) +
			place(`I "duplicates" trace="T" span="0102030405060708" a=1`) + place(`I "duplicates" trace="T" a=1 c=3 span="2122232425262728" d=4`): //
		place(`I "duplicates" trace="T" span="0102030405060708" a=1`) + place(`I "duplicates" a=1 b=2 trace="T" span="1112131415161718"`) +
			place(`I "duplicates" trace="T" span="0102030405060708" a=1`) + place(`I "duplicates" a=1 c=3 trace="T" span="2122232425262728" d=4`),
	}
	pairs[place(`I "v=11: you see me because of -vmodule output=11"`)] = "" // V(11) is off in newLogger
	for i := 0; i < len(lines); i += 2 {
		pairs[place(lines[i])] = place(lines[i+1])
	}
	mapping := map[string]string{}
	full := strings.NewReplacer(`"T"`, `"101112131415161718191a1b1c1d1e1f"`,
		"< { ", "<\n\t{\n\t  ", `", "`, "\",\n\t  \"", " } >", "\n\t}\n >")
	for klog, nib := range pairs {
		mapping[full.Replace(klog)] = strings.ReplaceAll(nib, `"T"`, `"101112131415161718191a1b1c1d1e1f"`)
	}
	return mapping
}

func TestKlogOutputE2E(t *testing.T) {
	test.InitKlog(t)
	for name, asBackend := range map[string]bool{"direct": false, "as backend": true} {
		t.Run(name, func(t *testing.T) {
			test.Output(t, test.OutputConfig{NewLogger: newLogger, AsBackend: asBackend, ExpectedOutputMapping: differences})
		})
	}
}
