// Stands in for go.mod where the command is built with a release of Go that is
// older than what this module needs.
module github.com/nib-log/nib/bench

go 1.24

require github.com/nib-log/nib v0.0.0

replace github.com/nib-log/nib => ..
