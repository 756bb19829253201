// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && linux

#include "textflag.h"

// func readTicks() uint64
//
// Without a fence the processor may read the counter some ten nanoseconds
// earlier or later than written here, which does not matter to a log line.
TEXT ·readTicks(SB), NOSPLIT|NOFRAME, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func hasInvariantTicks() bool
//
// Bit 8 of EDX of leaf 80000007H: the counter runs at a constant rate in all
// power states (Intel SDM vol. 3, 18.17.1; AMD64 APM vol. 3, appendix E).
TEXT ·hasInvariantTicks(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $0x80000000, AX
	XORL CX, CX
	CPUID
	CMPL AX, $0x80000007
	JCS  done
	MOVL $0x80000007, AX
	XORL CX, CX
	CPUID
	SHRL $8, DX
	ANDL $1, DX
	MOVB DX, ret+0(FP)

done:
	RET
