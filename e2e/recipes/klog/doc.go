// SPDX-License-Identifier: Apache-2.0

// Package klog runs klog's own suite for loggers, and controller-runtime, on
// niblogr.
package klog
