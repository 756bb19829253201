// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"strings"
	"testing"
)

// contents returns the names of the files in the zip of a module.
func contents(t *testing.T, name, module string) (list []string) {
	t.Helper()
	r, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		list = append(list, strings.TrimPrefix(f.Name, module+"/"))
	}
	return list
}
