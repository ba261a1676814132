# Tables, arrays, strings, closures and a grammar.
(def t @{})
(for i 0 100000 (put t (string "k" (% i 1000)) (+ i (get t (string "k" (% i 777)) 0))))
(def a (sort (seq [i :range [0 50000]] (% (* i 7919) 50021))))
(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(def b @"")
(each x a (buffer/push b (string x) ","))
(def grammar (peg/compile ~(any (* (<- :d+) ","))))
(print (length (peg/match grammar b)) " " (fib 22) " " (sum (map |(% $ 13) (values t))))
