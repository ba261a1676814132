local function leaf()
    local sum --[[: integer]] = 0
    local product --[[: number]] = 1.0
    for i = 1, 100 do
        sum = sum + i * i
        product = product * 1.5 + sum
        if sum > 1000 then sum = sum - 999 end
    end
    return sum, product
end
print(leaf())
