// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// maxFields is how many fields a struct has, embedded ones included: a struct
// with more consists of parts that deserve a name.
const maxFields = 20

// largeStructs have more fields, each for a reason. One that is no longer
// needed is a violation.
var largeStructs = []largeStruct{
	{"bench/peer.go", "Peer", 23, "one function for each row of the tables"},
	{"dest/kafka/destination.go", "Destination", 38, "not divided yet: connection, lanes and counts"},
	{"dest/kafka/lane.go", "lane", 22, "not divided yet: what is in flight, and the state of the producer"},
	{"dest/syslog/probe_linux.go", "tcpInfo", 21, "the layout of a struct of the kernel"},
	{"event.go", "Event", 28, "one object from a pool: what is together in it is used together"},
	{"internal/plan/plan.go", "Plan", 22, "not divided yet: what a tag says, and the functions that were chosen for it"},
	{"sink/file/sink.go", "Sink", 44, "not divided yet: the file, rotation, and counts"},
	{"sink/spool/config.go", "Config", 27, "one field for each option"},
	{"sink/stdout/sink.go", "Sink", 33, "not divided yet: the buffer, its deadline, and counts"},
}

type largeStruct struct {
	path, name string
	fields     int // that it may have
	reason     string
}

func checkStructs(t *tree, exceptions []largeStruct) (violations []string) {
	used := make([]bool, len(exceptions))
	for _, s := range t.files {
		if !s.isGo() || s.isTest() {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			decl, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, most := fieldsOf(decl), maxFields
			i := slices.IndexFunc(exceptions, func(e largeStruct) bool { return e.path == s.path && e.name == decl.Name.Name })
			if i >= 0 && fields > maxFields {
				used[i], most = true, exceptions[i].fields
			}
			if fields > most {
				violations = append(violations, fmt.Sprintf("%s: struct %s has %d fields, want at most %d", s.at(decl), decl.Name.Name, fields, most))
			}
			return true
		})
	}
	for i, e := range exceptions {
		if !used[i] {
			violations = append(violations, fmt.Sprintf("%s %s: the exception is not needed any more", e.path, e.name))
		}
		if e.reason == "" {
			violations = append(violations, fmt.Sprintf("%s %s: the exception has no reason", e.path, e.name))
		}
	}
	return violations
}

// fieldsOf counts the fields of a struct, without padding.
func fieldsOf(decl *ast.TypeSpec) (fields int) {
	s, ok := decl.Type.(*ast.StructType)
	if !ok {
		return 0
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			fields++
		}
		for _, name := range f.Names {
			if name.Name != "_" {
				fields++
			}
		}
	}
	return fields
}

func TestStructsHaveFewFields(t *testing.T) {
	of := func(n int) string {
		return "package a\n\ntype T struct {\n\tU\n\t_, a int\n" + strings.Repeat("\tb int\n", n-2) + "}\n"
	}
	tryOn(t, func(t *tree) []string { return checkStructs(t, nil) }, []fixture{
		{"good", map[string]string{"a.go": of(20), "a_test.go": of(21)}, nil},
		{"too many fields", map[string]string{"a.go": of(21)}, []string{"a.go:3: struct T has 21 fields, want at most 20"}},
	})
	tryOn(t, func(t *tree) []string { return checkStructs(t, []largeStruct{{"a.go", "T", 25, "a table"}}) }, []fixture{
		{"within its exception", map[string]string{"a.go": of(25)}, nil},
		{"more than its exception", map[string]string{"a.go": of(26)}, []string{"a.go:3: struct T has 26 fields, want at most 25"}},
		{"exception not needed", map[string]string{"a.go": of(20)}, []string{"a.go T: the exception is not needed any more"}},
	})
	loaded, _ := repository(t)
	report(t, checkStructs(loaded, largeStructs))
}
