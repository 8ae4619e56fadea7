---@meta
-- Each takes numbers (or numeric text, not both), or rows and the name of a member; nil and null are left out.
stats = {}

---The sum; 0 of none.
---@param list table
---@param key? string
---@return number
function stats.sum(list, key) end

---How many numbers there are.
---@param list table
---@param key? string
---@return integer
function stats.count(list, key) end

---The average; nil of none.
---@param list table
---@param key? string
---@return number?
function stats.mean(list, key) end

---The middle value; nil of none.
---@param list table
---@param key? string
---@return number?
function stats.median(list, key) end

---The value p percent (0 to 100) of the way from least to most, between neighbours in proportion.
---@param list table
---@param p number
---@param key? string
---@return number?
function stats.percentile(list, p, key) end

---The least; nil of none.
---@param list table
---@param key? string
---@return number?
function stats.min(list, key) end

---The most; nil of none.
---@param list table
---@param key? string
---@return number?
function stats.max(list, key) end

---Standard deviation of a sample, or of the population.
---@param list table
---@param key? string
---@param of? "sample"|"population"
---@return number?
function stats.stdev(list, key, of) end

---Variance of a sample, or of the population.
---@param list table
---@param key? string
---@param of? "sample"|"population"
---@return number?
function stats.variance(list, key, of) end

---The most frequent number, the first met of several.
---@param list table
---@param key? string
---@return number?
function stats.mode(list, key) end

---So many bins of equal width, from least to most.
---@param list table
---@param bins integer
---@param key? string
---@return {from: number, to: number, count: integer}[]
function stats.histogram(list, bins, key) end

---Pearson's correlation of two lists, -1 to 1; nil where one does not vary.
---@param xs table
---@param ys table
---@return number?
function stats.correlation(xs, ys) end

---Count, sum, mean, median, min, max and stdev at once.
---@param list table
---@param key? string
---@return {count: integer, sum: number, mean?: number, median?: number, min?: number, max?: number, stdev?: number}
function stats.summary(list, key) end

---The same as math.round.
---@param x number|string
---@param digits? integer
---@return number
function stats.round(x, digits) end
