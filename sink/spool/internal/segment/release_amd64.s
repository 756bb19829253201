// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast && !race

#include "textflag.h"

// func release(state *uint64, w uint64)
TEXT ·release(SB), NOSPLIT, $0-16
	MOVQ state+0(FP), AX
	MOVQ w+8(FP), CX
	MOVQ CX, (AX)
	RET
