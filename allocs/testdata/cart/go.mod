module shop.example/cart

go 1.24
