// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

//alloc:none
func E01MapLookup() { intOut = names[string(bytes5)] }

//alloc:none
func E02Compare() {
	if string(bytes5) == small {
		intOut++
	}
}

//alloc:none
func E03Switch() {
	switch string(bytes9) {
	case "a", "b":
		intOut++
	}
}

//alloc:none
func E04RangeBytes() {
	n := 0
	for _, b := range []byte(long) {
		n += int(b)
	}
	intOut = n
}

//alloc:none
func E05MapAssign() {
	names[string(bytes5)] = n5 // why: string-of-bytes
}

//alloc:none
func E06MapStructKey() { intOut = pairs[pair{string(bytes5), n5}] }

//alloc:none
func E07MapConcatKey() { intOut = names[small+"x"] }

//alloc:none
func E08LongArgument() {
	intOut = length(string(bytes9)) // why: string-of-bytes
}

//alloc:none
func E09ShortArgument() { intOut = length(string(bytes5)) }

//alloc:none
func E10BuilderGrown() {
	var b strings.Builder
	b.Grow(64) // why: strings-copy
	b.WriteString(small)
	b.WriteByte('x')
	textOut = b.String()
}

//alloc:none
func E11BuilderNotGrown() {
	var b strings.Builder
	b.WriteString(small) // why: strings-copy
	b.WriteString(long)  // why: strings-copy
	textOut = b.String()
}

var parts = []string{"a", "b", "c"}

//alloc:none
func E12Join() {
	textOut = strings.Join(parts, ",") // why: strings-copy
}

//alloc:none
func E13Split() {
	textsOut = strings.Split(small, "l") // why: strings-copy
}

//alloc:none
func E14ToUpper() {
	textOut = strings.ToUpper(small) // why: strings-copy
}

//alloc:none
func E15AlreadyUpper() { textOut = strings.ToUpper(upper) }

//alloc:none
func E16ReplaceNothing() { textOut = strings.ReplaceAll(small, "z", "y") }

//alloc:none
func E17Cut() {
	before, after, _ := strings.Cut(small, "l")
	textOut = strings.TrimSpace(before + "")
	intOut = len(after)
}

//alloc:none
func E18BufferLocal() {
	var b bytes.Buffer
	b.WriteString(small) // why: buffer-grows
	b.WriteByte('x')
	textOut = b.String() // why: strings-copy
}

//alloc:none
func E19BufioWriter() {
	w := bufio.NewWriter(out) // why: buffered-per-call
	w.WriteString(small)
	w.Flush()
}

var lineReader = bufio.NewReader(nil)

//alloc:none
func E20BufioReset() {
	r := bytes.NewReader(line) // why: reader-per-call
	lineReader.Reset(r)
	b, _ := lineReader.ReadByte()
	intOut = int(b)
}

//alloc:none
func E21Runes() {
	runesOut = []rune(small) // why: runes-of-string
}

//alloc:none
func E22RunesLocal() {
	r := []rune(small)
	intOut = len(r)
}

//alloc:none
func E23StringOfRune() {
	textOut = string(rune(n1000)) // why: string-of-runes
}

//alloc:none
func E24ItoaSmall() { textOut = strconv.Itoa(n5) }

//alloc:none
func E25FormatFloat() {
	textOut = strconv.FormatFloat(f15, 'g', -1, 64) // why: strconv-string
}

//alloc:none
func E26AppendFloat() { buffer = strconv.AppendFloat(buffer[:0], f15, 'g', -1, 64) }

//alloc:none
func E27Quote() {
	textOut = strconv.Quote(small) // why: strconv-string
}

//alloc:none
func E28ParseFails() {
	if _, err := strconv.Atoi(small); err != nil { // why: number-error
		intOut++
	}
}

//alloc:none
func E29ParseWorks() { intOut, _ = strconv.Atoi("1234") }

//alloc:none
func E30BytesToInterface() {
	out.Write([]byte("text")) // why: bytes-of-string
}

//alloc:none
func E31Fprintf() {
	fmt.Fprintf(out, "%d", n1000) // why: boxed-argument
}

//alloc:none
func E32FprintPointer() {
	fmt.Fprintln(out, item) // why: fmt-formats
}

//alloc:none
func E33SprintConstant() {
	textOut = fmt.Sprint("a", 1) // why: sprintf
}

//alloc:none
func E34Sscanf() {
	fmt.Sscanf("12", "%d", &intOut) // why: fmt-scan moved-variable
}

//alloc:none
func E35IOWriteString() { io.WriteString(io.Discard, small) }

//alloc:none
func E36AppendBytes() { buffer = append(append(buffer[:0], long...), 'x') }

//alloc:none
func E37ConcatKept() {
	textOut = small + ":" + upper // why: concat
}

//alloc:none
func E38ConcatInLoop() {
	s := ""
	for range 3 {
		s += small // why: concat
	}
	textOut = s
}

//alloc:none
func E39Fields() {
	textsOut = strings.Fields(long) // why: strings-copy
}

//alloc:none
func E40SplitSeq() {
	n := 0                                  // why: moved-variable
	for range strings.SplitSeq(long, " ") { // why: closure-kept
		n++
	}
	intOut = n
}

//alloc:none
func E41StringsReader() {
	readerOut = strings.NewReader(small) // why: reader-per-call
}

//alloc:none
func E42Scanner() {
	s := bufio.NewScanner(bytes.NewReader(line)) // why: reader-per-call
	for s.Scan() {                               // why: buffered-per-call
		intOut += len(s.Bytes())
	}
}

//alloc:none
func E43CloneString() {
	textOut = strings.Clone(small) // why: strings-copy
}

//alloc:none
func E44BytesEqualFold() {
	if strings.EqualFold(small, upper) && bytes.Contains(line, bytes5) {
		intOut++
	}
}

//alloc:none
func E45TernaryString() {
	s := small
	if yes {
		s = string(bytes9[:n20]) // why: string-of-bytes
	}
	textOut = s
}
