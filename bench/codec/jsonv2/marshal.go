// SPDX-License-Identifier: Apache-2.0

//go:build goexperiment.jsonv2 && !go1.27

package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// marshal writes v to buf, in releases that have encoding/json/v2 only as an
// experiment.
func marshal(buf *bytes.Buffer, v any) error { return json.MarshalWrite(buf, v, options) }

// encoding/json/v2 need not check for duplicate names, since there are none.
var options = json.JoinOptions(json.Deterministic(true), jsontext.AllowDuplicateNames(true))
