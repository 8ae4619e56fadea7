--! expect: plan_syntax 2:1 a Markdown fence is not part of the program
```lua
function run(context) return context end
```
