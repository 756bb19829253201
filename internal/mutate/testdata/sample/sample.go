// Package sample has tests that miss a part of it.
package sample

import "os"

// Clamp returns n within 0 and limit.
func Clamp(n, limit int) int {
	if n < 0 {
		return 0
	}
	return min(n, limit)
}

// Sum is not tested at its end.
func Sum(list []int) (sum int) {
	for _, n := range list {
		if n == 0 {
			continue
		}
		sum += n
	}
	return sum
}

// Sign has conditions of cases, which coverage profiles do not have.
func Sign(n int) string {
	switch {
	case n == 0:
		return "none"
	case n != -1 && n != 1:
		return "large"
	}
	return "small"
}

// Never is not called.
func Never() bool { return true }

// End ends the process, which its test therefore starts.
func End() { os.Exit(3) }
