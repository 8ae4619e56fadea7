-- Line ends of every kind.
-- generates: source
-- expect: result: 4
function run() return "function run()\r\n local a = 1\n\r a = a + 1\r a = a + 1\n return a + 1\r\nend\r" end
