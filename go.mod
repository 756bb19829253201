module github.com/nib-log/nib

go 1.24
