# Words counted, sorted, split and put together again.
BEGIN {
  for (i = 0; i < 200000; i++) {
    word = sprintf("k%d", (i * 7919) % 5003)
    count[word]++
    if (i % 10 == 0) line = line " " word
  }
  n = split(line, words, " ")
  for (i = 1; i <= n; i++) { gsub(/[0-4]/, "x", words[i]); seen[words[i]] += length(words[i]) }
  m = asorti(count, sorted)
  for (i = 1; i <= m; i++) sum = (sum * 31 + count[sorted[i]]) % 1000003
  for (word in seen) total += seen[word]
  print n, m, sum, total, substr(sorted[1] sorted[m], 1, 8)
}
