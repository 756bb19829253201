// SPDX-License-Identifier: Apache-2.0

package writestring

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// embedded has a Write of its own, and the WriteString of what is in it.
type embedded struct{ *bytes.Buffer }

func (e embedded) Write(b []byte) (int, error) { return e.Buffer.Write(bytes.ToUpper(b)) }

// other has a WriteString of its own, and the Write of what is in it.
type other struct{ *bytes.Buffer }

func (o other) WriteString(s string) (int, error) { return o.Buffer.WriteString("other") }

func Copy(s string, b []byte) string {
	var buf bytes.Buffer
	buf.Write([]byte(s))       // want "use WriteString"
	buf.WriteString(string(b)) // want "use Write"
	w := bufio.NewWriter(&buf)
	if _, err := w.Write([]byte(s)); err != nil { // what is behind w could have a WriteString of its own
		return ""
	}
	w.Flush()
	var sb strings.Builder
	sb.Write([]byte(s)) // want "use WriteString"
	e := embedded{&buf}
	e.Write([]byte(s))
	o := other{&buf}
	o.Write([]byte(s))
	o.WriteString(string(b))
	var i io.Writer = &buf
	i.Write([]byte(s))
	buf.Write(b)
	return buf.String() + sb.String()
}

func Try() string { return Copy("text", []byte("bytes")) }
