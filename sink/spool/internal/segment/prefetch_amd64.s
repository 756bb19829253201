// SPDX-License-Identifier: Apache-2.0

//go:build !race

#include "textflag.h"

// func prefetchLine(p *byte)
TEXT ·prefetchLine(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET
