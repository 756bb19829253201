// SPDX-License-Identifier: Apache-2.0

// Package elastic_test delivers lines to a real OpenSearch while the services
// and the server are killed.
package elastic_test
