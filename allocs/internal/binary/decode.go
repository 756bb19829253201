// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// flow is the effect of an instruction on the flow of control.
type flow uint8

const (
	next    flow = iota // falls through
	call                // calls target and returns
	callAny             // calls through a register or memory
	branch              // goes to target or falls through
	jump                // goes to target
	jumpAny             // goes to an unknown address
	leave               // returns
	stop                // does not continue
)

// inst is one decoded instruction.
type inst struct {
	pc     uint64
	flow   flow
	target uint64
}

// arch decodes the code of one function.
type arch func(code []byte, pc uint64) []inst

func x86(code []byte, pc uint64) []inst {
	var out []inst
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		if err != nil || in.Len == 0 {
			// An instruction that the decoder does not know (some vector ones): skip one
			// byte; decoding finds calls again after it.
			code, pc = code[1:], pc+1
			continue
		}
		i := inst{pc: pc}
		end := pc + uint64(in.Len)
		rel, direct := in.Args[0].(x86asm.Rel)
		if direct {
			i.target = end + uint64(int64(rel))
		}
		switch op := in.Op; {
		case op == x86asm.CALL && direct:
			i.flow = call
		case op == x86asm.CALL:
			i.flow = callAny
		case op == x86asm.JMP && direct:
			i.flow = jump
		case op == x86asm.JMP:
			i.flow = jumpAny
		case op == x86asm.RET:
			i.flow = leave
		case op == x86asm.UD2 || op == x86asm.INT:
			i.flow = stop
		case direct:
			i.flow = branch
		}
		out = append(out, i)
		code, pc = code[in.Len:], end
	}
	return out
}

func arm64(code []byte, pc uint64) []inst {
	out := make([]inst, 0, len(code)/4)
	for ; len(code) >= 4; code, pc = code[4:], pc+4 {
		w := binary.LittleEndian.Uint32(code)
		i := inst{pc: pc}
		// to is the target of a branch whose distance in words has bits bits
		// from shift on.
		to := func(shift, bits uint) uint64 {
			v := int64(w>>shift) << (64 - bits) >> (64 - bits)
			return uint64(int64(pc) + 4*v)
		}
		switch {
		case w>>26 == 0x25: // BL
			i.flow, i.target = call, to(0, 26)
		case w>>26 == 0x05: // B
			i.flow, i.target = jump, to(0, 26)
		case w&0xFFFFFC1F == 0xD63F0000: // BLR
			i.flow = callAny
		case w&0xFFFFFC1F == 0xD61F0000: // BR
			i.flow = jumpAny
		case w&0xFFFFFC1F == 0xD65F0000: // RET
			i.flow = leave
		case w>>24 == 0x54 || w&0x7E000000 == 0x34000000: // B.cond, CBZ, CBNZ
			i.flow, i.target = branch, to(5, 19)
		case w&0x7E000000 == 0x36000000: // TBZ, TBNZ
			i.flow, i.target = branch, to(5, 14)
		case w>>21 == 0x6A1 || w>>16 == 0: // BRK, UDF
			i.flow = stop
		}
		out = append(out, i)
	}
	return out
}
