module github.com/nib-log/nib/e2e

go 1.24

require github.com/nib-log/nib v0.0.0

replace github.com/nib-log/nib => ..
