module github.com/nib-log/nib/allocs/docgen

go 1.26.0

require github.com/nib-log/nib/allocs v0.1.0

require (
	golang.org/x/arch v0.32.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/nib-log/nib/allocs => ..
