// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A fastPath is a call whose locked instructions are counted in its machine
// code. One takes 20 cycles on some processors and 7 on others, where no timing
// shows that there is one too many.
type fastPath struct {
	name, from string // from is the function where it begins
	most       int    // locked instructions
}

// fastPaths are the paths whose locked instructions are limited. All branches
// of their functions count, taken or not, except for calls of rareCalls.
var fastPaths = []fastPath{
	{"Pool.Get", "main.poolGet", 1},
	{"Pool.Put", "main.poolPut", 1},
	{"Buffers.Get", "main.buffersGet", 1},
	{"Buffers.Put", "main.buffersPut", 1},
	{"disabled call", "main.disabled", 0},
	{"Info().Msg into io.Discard", "main.message", 0},
	// Two lock and unlock; two are for lines that the writer itself has logged.
	{"line to an io.Writer", root + "/internal/linewriter.(*Writer).Write", 4},
	// One reserves room; two wake sleeping goroutines.
	{"WriteRecord of the spool", "main.record", 3},
	// One counts; three are on the paths of lines that the filter drops, and of
	// filters that panic.
	{"counter of a filter", "main.counted", 4},
}

// rareCalls are functions that usual calls do not execute, by the beginning of
// their names, and those that have a row of their own.
var rareCalls = []string{
	"runtime.", "sync.(*Mutex).", "sync.(*Pool).getSlow", "sync.(*Pool).pinSlow", "sync.(*poolChain).",
	"pool.(*Pool[...]).getSlow", "pool.(*Pool[...]).putSlow",
	"pool.(*Buffers).open", "pool.(*Buffers).takeOversize", "pool.(*Buffers).dropOversize", "pool.(*Buffers).countOutgrown", "pool.(*Buffers).refuse",
	"nib.(*Logger).sample", "nib.(*Event).misused", "nib.(*Event).run", "nib.callUser",
	"nib.(*core).deliver", "nib.(*core).report", "callsite.(*Table[...]).Put", "lastresort.",
	"clock.(*wallClock).renew",
	"linewriter.(*Writer).Write", "linewriter.(*Writer).queueUp", "linewriter.(*Writer).enqueue", "linewriter.(*Writer).writeAll",
	"spool.(*Sink).retire", "spool.(*Sink).refuse", "spool.(*Sink).roll", "spool.(*Sink).waitSynced", "segment.(*twin).write",
}

// code is the machine code of a program: the instructions of each function, in
// the syntax of go tool objdump.
type code map[string][]string

var columnsOf = regexp.MustCompile(`\t+`)

// disassembled reads the output of go tool objdump: a line for each function,
// and for each instruction one with four columns between tabs.
func disassembled(text string) code {
	c, name := code{}, ""
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(head, "(SB)")
			c[name] = nil
			continue
		}
		if columns := columnsOf.Split(strings.TrimSpace(line), -1); len(columns) == 4 {
			c[name] = append(c[name], columns[3])
		}
	}
	return c
}

// isLocked reports whether an instruction of amd64 is locked: by its prefix, or
// because it exchanges a register with memory.
func isLocked(instruction string) bool {
	return strings.HasPrefix(instruction, "LOCK ") ||
		strings.HasPrefix(instruction, "XCHG") && strings.Contains(instruction, "(")
}

// target returns the function that an instruction calls or continues with.
func target(instruction string) string {
	operation, operand, _ := strings.Cut(instruction, " ")
	name, ok := strings.CutSuffix(operand, "(SB)")
	if !ok || operation != "CALL" && operation != "JMP" {
		return ""
	}
	return name
}

var typeArguments = regexp.MustCompile(`\[.*\]`)

// short returns the name of a function without its folder and type arguments:
// "pool.(*Pool[...]).Get".
func short(name string) string {
	name = typeArguments.ReplaceAllString(name, "[...]")
	return name[strings.LastIndex(name, "/")+1:]
}

// locked lists the locked instructions of a path, each with its function, and
// adds the rare functions that the path calls to called.
func (p *fastPath) locked(c code, rare []string, called map[string]bool) (found []string) {
	todo, seen := []string{p.from}, map[string]bool{p.from: true}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		for _, instruction := range c[name] {
			if isLocked(instruction) {
				found = append(found, short(name)+": "+instruction)
			}
			next := target(instruction)
			if next == "" || seen[next] {
				continue
			}
			seen[next] = true
			begins := func(r string) bool { return strings.HasPrefix(short(next), r) }
			if i := slices.IndexFunc(rare, begins); i >= 0 {
				called[rare[i]] = true
			} else {
				todo = append(todo, next)
			}
		}
	}
	return found
}

func checkLocked(c code, paths []fastPath, rare []string, called map[string]bool) (v faults) {
	for _, p := range paths {
		if c[p.from] == nil {
			v.add("%s: no function %s", p.name, p.from)
		}
		if found := p.locked(c, rare, called); len(found) > p.most {
			v.add("%s: %d locked instructions, want at most %d: %s",
				p.name, len(found), p.most, strings.Join(found, ", "))
		}
	}
	return v
}

const badCode = `TEXT main.get(SB) /a/main.go
  main.go:3		0x401004		8732			XCHGL SI, 0(DX)
  main.go:3		0x401006		4887d8			XCHGQ BX, AX
  main.go:4		0x40100d		e826170000		CALL a.example/b/pool.(*Pool[go.shape.*a.example/c.T]).next(SB)
  main.go:4		0x401017		e826170000		CALL runtime.panicBounds(SB)
  main.go:4		0x40101c		ebce			JMP main.get(SB)

TEXT a.example/b/pool.(*Pool[go.shape.*a.example/c.T]).next(SB) /a/pool.go
  pool.go:9		0x402000		f0			LOCK CMPXCHGL DX, 0(CX)

TEXT runtime.panicBounds(SB) /a/panic.go
  panic.go:12		0x404000		f0			LOCK CMPXCHGL DX, 0(CX)
`

func TestLockedInstructions(t *testing.T) {
	called := map[string]bool{}
	paths := []fastPath{{"get", "main.get", 1}, {"put", "main.put", 0}}
	mustFind(t, checkLocked(disassembled(badCode), paths, []string{"runtime."}, called),
		"get: 2 locked instructions, want at most 1: main.get: XCHGL SI, 0(DX), pool.(*Pool[...]).next: LOCK",
		"put: no function main.put")
	if testing.Short() {
		t.Skip("builds a program")
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("reads machine code of amd64, not of %s", runtime.GOARCH)
	}
	program := build(t, "testdata/locked/main.go", "-ldflags=-w") // objdump needs the symbols
	functions := `^main\.|^sync|^internal/sync|` + root
	out, err := exec.Command("go", "tool", "objdump", "-s", functions, program).Output()
	if err != nil {
		t.Skipf("go tool objdump: %v", err)
	}
	for _, v := range checkLocked(disassembled(string(out)), fastPaths, rareCalls, called) {
		t.Error(v)
	}
	for _, r := range rareCalls {
		if !called[r] {
			t.Errorf("no path calls %s: it is not needed any more", r)
		}
	}
}
