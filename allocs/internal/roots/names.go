// SPDX-License-Identifier: Apache-2.0

package roots

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// ErrNoFunction means that a named function does not exist.
var ErrNoFunction = errors.New("no such function in the packages")

// ErrAmbiguous means that a name matches several functions equally well.
var ErrAmbiguous = errors.New("the name fits several functions")

// declaration is a function with the parts of its name that a user may write.
type declaration struct {
	full  string // Root.Func
	path  string // import path of the package
	pkg   string // name of the package
	local string // F or T.Method, without star, parentheses and type parameters
}

// declarations returns all functions of the packages that have a body.
func declarations(src *load.Source) []declaration {
	var out []declaration
	for _, p := range src.Packages {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					full := declared(src.Fset, p, fn).Func
					out = append(out, declaration{full, p.PkgPath, p.Name,
						plain(strings.TrimPrefix(full, p.PkgPath+"."))})
				}
			}
		}
	}
	return out
}

// plain removes the differences between the spellings of a function: the
// parentheses and the star of a receiver, type parameters, and spaces.
func plain(name string) string {
	var b strings.Builder
	depth := 0
	for _, r := range name {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case '(', ')', '*', '&', ' ':
		default:
			if depth == 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// fits returns how specific a name is that a function can be written as: 0 with
// the import path; 1 with the end of it, or the name of the package; 2 without
// a package; 3 a method without its type; -1 if it is another function. If
// several is set, the name is the beginning of it.
func (d declaration) fits(name string, several bool) int {
	whole := d.path + "." + d.local
	_, method, _ := strings.Cut(d.local, ".")
	for i, form := range []string{whole, d.pkg + "." + d.local, d.local, method} {
		switch {
		case form != "" && form == name || several && strings.HasPrefix(form, name):
			return i
		case i == 1 && strings.HasSuffix(whole, "/"+name),
			i == 1 && several && strings.Contains(whole, "/"+name):
			return i
		}
	}
	return -1
}

// named returns the functions that match the names, by Root.Func. A name that
// ends in an asterisk matches all functions that begin with it. Of several
// functions that a name matches, those with the most specific spelling count.
func named(src *load.Source, names []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(names) == 0 {
		return out, nil
	}
	all := declarations(src)
	for _, name := range names {
		found, err := lookUp(all, name)
		if err != nil {
			return nil, fmt.Errorf("--root %s: %w", name, err)
		}
		for _, f := range found {
			out[f] = true
		}
	}
	return out, nil
}

func lookUp(all []declaration, name string) ([]string, error) {
	begin, several := strings.CutSuffix(name, "*")
	begin = plain(begin)
	var found [4][]string
	for _, d := range all {
		if tier := d.fits(begin, several); tier >= 0 {
			found[tier] = append(found[tier], d.full)
		}
	}
	for _, fs := range found {
		slices.Sort(fs)
		fs = slices.Compact(fs) // a package has several functions init
		switch {
		case len(fs) == 1 || several && len(fs) > 0:
			return fs, nil
		case len(fs) > 0:
			return nil, fmt.Errorf("%w; write one of %s", ErrAmbiguous, list(fs))
		}
	}
	if near := near(all, begin); len(near) > 0 {
		return nil, fmt.Errorf("%w; did you mean %s?", ErrNoFunction, list(near))
	}
	return nil, ErrNoFunction
}

// most bounds the names in a message.
const most = 6

func list(names []string) string {
	if n := len(names) - most; n > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// near returns the functions with the same last name, apart from its case: the
// package or the type was another.
func near(all []declaration, name string) []string {
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	var out []string
	for _, d := range all {
		if strings.EqualFold(last(d.local), last(name)) && !slices.Contains(out, d.full) {
			out = append(out, d.full)
		}
	}
	return out
}
