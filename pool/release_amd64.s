// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast && !race

#include "textflag.h"

// func release(state *uint32, st uint32)
TEXT ·release(SB), NOSPLIT, $0-12
	MOVQ state+0(FP), AX
	MOVL st+8(FP), CX
	MOVL CX, (AX)
	RET
