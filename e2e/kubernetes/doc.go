// SPDX-License-Identifier: Apache-2.0

// Package kubernetes checks the manifest in examples/kubernetes: with the types
// of Kubernetes, decoded as strictly as an API server does it, and with the
// rules of its pod security admission.
package kubernetes
