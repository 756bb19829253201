// SPDX-License-Identifier: Apache-2.0

//go:build !race

#include "textflag.h"

// func Uint32(p *uint32, v uint32)
TEXT ·Uint32(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), CX
	MOVL CX, (AX)
	RET

// func Uint64(p *uint64, v uint64)
TEXT ·Uint64(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET
