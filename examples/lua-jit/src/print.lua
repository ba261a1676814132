
        function print(...)
            local texts = table.pack(...)
            for i = 1, texts.n do
                local value = texts[i]
                if math.type(value) == "float" then
                    texts[i] = string.format("%016x", string.unpack("<i8", string.pack("<d", value)))
                else
                    texts[i] = tostring(value)
                end
            end
            io.write(table.concat(texts, "\t"), "\n")
        end
    