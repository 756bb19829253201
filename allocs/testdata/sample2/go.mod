module example.com/sample2

go 1.24
