// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// kind is the type of the argument in a piece of a formatted text.
type kind int

const (
	literal kind = iota
	str
	signed
	unsigned
	boolean
)

// piece is a part of a formatted text: a literal, or an argument that fmt
// writes just as strconv does.
type piece struct {
	kind kind
	base int
	text string   // source of the expression
	arg  ast.Expr // nil for a literal
}

// most is the maximum number of pieces that are written out; more are hard to
// read.
const most = 4

// formatted splits the call of a function of fmt into pieces; name is its name
// without the part for the destination: printf, print or println. nil means
// that pieces cannot replace the call.
func formatted(pass *rule.Pass, call *ast.CallExpr, args []ast.Expr, name string) []piece {
	if call.Ellipsis.IsValid() || len(args) == 0 {
		return nil
	}
	if name == "print" && len(args) == 1 {
		if p := argument(pass, args[0], 'v'); p != nil {
			return []piece{*p}
		}
	}
	// The names of constants in the format would be lost.
	lit, ok := args[0].(*ast.BasicLit)
	if name != "printf" || !ok || lit.Kind != token.STRING || len(args) == 1 {
		return nil
	}
	return split(pass, lit.Value, args[1:])
}

// split splits the source of a format, so that each literal keeps its quotes
// and its escapes.
func split(pass *rule.Pass, format string, args []ast.Expr) (out []piece) {
	quote, format := format[:1], format[1:len(format)-1]
	flush := func(s string) {
		if s != "" {
			out = append(out, piece{kind: literal, text: quote + s + quote})
		}
	}
	var lit strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] == '\\' && quote == `"` {
			if hidesVerb(format[i:]) {
				return nil
			}
			lit.WriteString(format[i : i+2])
			i++
			continue
		}
		if format[i] != '%' {
			lit.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return nil
		}
		if format[i] == '%' {
			lit.WriteByte('%')
			continue
		}
		if len(args) == 0 {
			return nil
		}
		p := argument(pass, args[0], format[i])
		if p == nil {
			return nil
		}
		flush(lit.String())
		lit.Reset()
		out, args = append(out, *p), args[1:]
	}
	flush(lit.String())
	if len(args) > 0 || len(out) > most {
		return nil
	}
	return out
}

// hidesVerb reports whether text has an escape sequence for a percent sign.
func hidesVerb(text string) bool {
	for _, s := range []string{`\x25`, `\u0025`, `\U00000025`, `\045`} {
		if strings.HasPrefix(text, s) {
			return true
		}
	}
	return false
}

// argument returns the piece for an argument and its verb, or nil.
func argument(pass *rule.Pass, e ast.Expr, verb byte) *piece {
	b := basic(pass.TypesInfo.TypeOf(e))
	if b == nil || b.Info()&types.IsUntyped != 0 {
		return nil
	}
	p := &piece{base: 10, text: text(pass, e), arg: e}
	info := b.Info()
	switch {
	case info&types.IsString != 0 && (verb == 's' || verb == 'v'):
		p.kind = str
	case info&types.IsBoolean != 0 && (verb == 't' || verb == 'v'):
		p.kind = boolean
	case info&types.IsInteger != 0 && (verb == 'd' || verb == 'v' || verb == 'x') && b.Kind() != types.Uintptr:
		p.kind = signed
		if info&types.IsUnsigned != 0 {
			p.kind = unsigned
		}
		if verb == 'x' {
			p.base = 16
		}
		// A constant can be too large for one of the types, and b is an int.
		p.text = converted(pass, e, b)
	default:
		return nil
	}
	return p
}

// converted returns the source of an integer as int64 or uint64.
func converted(pass *rule.Pass, e ast.Expr, b *types.Basic) string {
	to := "int64"
	if b.Info()&types.IsUnsigned != 0 {
		to = "uint64"
	}
	if b.Name() == to {
		return text(pass, e)
	}
	return to + "(" + text(pass, e) + ")"
}

// plain reports whether the arguments can be evaluated at another time.
func plain(info *types.Info, args []ast.Expr) bool {
	for _, a := range args {
		if !edit.Pure(info, a) {
			return false
		}
	}
	return true
}

func (p *piece) needsStrconv() bool { return p.kind > str }

func needStrconv(pieces []piece) bool {
	for i := range pieces {
		if pieces[i].needsStrconv() {
			return true
		}
	}
	return false
}

// appended returns the source that appends the piece to dst.
func (p *piece) appended(strconv, dst string) string {
	switch p.kind {
	case signed:
		return strconv + ".AppendInt(" + dst + ", " + p.text + ", " + p.number() + ")"
	case unsigned:
		return strconv + ".AppendUint(" + dst + ", " + p.text + ", " + p.number() + ")"
	case boolean:
		return strconv + ".AppendBool(" + dst + ", " + p.text + ")"
	}
	return "append(" + dst + ", " + p.text + "...)"
}

// asString returns the source of the piece as a string.
func (p *piece) asString(pass *rule.Pass, strconv string) string {
	switch p.kind {
	case signed:
		if p.base == 10 && basic(pass.TypesInfo.TypeOf(p.arg)).Kind() == types.Int {
			return strconv + ".Itoa(" + text(pass, p.arg) + ")"
		}
		return strconv + ".FormatInt(" + p.text + ", " + p.number() + ")"
	case unsigned:
		return strconv + ".FormatUint(" + p.text + ", " + p.number() + ")"
	case boolean:
		return strconv + ".FormatBool(" + p.text + ")"
	}
	if _, ok := p.arg.(*ast.BinaryExpr); ok {
		return "(" + p.text + ")"
	}
	return p.text
}

func (p *piece) number() string { return strconv.Itoa(p.base) }

// fmtName returns the name of the function of fmt that is called, without a
// prefix, in lower case: "printf" for Sprintf with the prefix S.
func fmtName(info *types.Info, call *ast.CallExpr, prefix string) string {
	name, ok := strings.CutPrefix(typename.Function(info, call, "fmt"), prefix)
	if !ok {
		return ""
	}
	return strings.ToLower(name)
}
