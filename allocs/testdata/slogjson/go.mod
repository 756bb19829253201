module example.com/slogjson

go 1.24
