module github.com/nib-log/nib/e2e

go 1.24

require github.com/nib-log/nib v0.1.0

replace github.com/nib-log/nib => ..
