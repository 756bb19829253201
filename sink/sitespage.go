// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// String returns the report as a table.
func (r SiteReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%14s %6s %12s  call site\n", "bytes", "share", "lines")
	row := func(s SiteCount, what string) {
		fmt.Fprintf(&b, "%14d %5.1f%% %12d  %s\n", s.Bytes, 100*s.Share, s.Lines, what)
	}
	for _, s := range r.Sites {
		row(s, s.describe())
	}
	if r.Other.Lines > 0 {
		row(r.Other, "(all others)")
	}
	row(SiteCount{Bytes: r.Bytes, Lines: r.Lines, Share: share(r.Bytes, r.Bytes)}, "(all)")
	return b.String()
}

// describe returns a description of a site in one line.
func (s *SiteCount) describe() string {
	switch {
	case s.File != "":
		dir, file := path.Split(s.File)
		return fmt.Sprintf("%s:%d %s", path.Join(path.Base(dir), file), s.Line, s.Function)
	case s.Function != "":
		return s.Function
	case s.Message != "":
		return strconv.Quote(s.Message)
	}
	return "(no call site, no message)"
}

// unescaped returns the text as it was logged.
func (t *text) unescaped() string {
	var s string
	if json.Unmarshal([]byte(`"`+string(t.get())+`"`), &s) != nil {
		return string(t.get()) // a record that nib has not made may contain anything
	}
	return s
}
