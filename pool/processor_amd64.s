// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

#include "textflag.h"

// func processor() uintptr
TEXT ·processor(SB), NOSPLIT, $0-8
	RDPID AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf, subleaf uint32) (eax, ecx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-16
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL CX, ecx+12(FP)
	RET
