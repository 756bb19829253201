// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package pool

import "sync"

// processor returns the number of the processor that runs the caller, or ran it
// a moment ago, as Linux stores it in the register TSC_AUX, beside the
// NUMA node. Where the register is not set, it returns always the same. Call it
// only if hasProcessor.
func processor() uintptr

func cpuid(leaf, subleaf uint32) (eax, ecx uint32)

// hasProcessor reports whether the processor has RDPID: bit 22 of ECX of leaf 7
// (Intel SDM vol. 2, CPUID; AMD64 APM vol. 3, appendix E).
var hasProcessor = sync.OnceValue(func() bool {
	if largest, _ := cpuid(0, 0); largest < 7 {
		return false
	}
	_, features := cpuid(7, 0)
	return features>>22&1 != 0
})
