function run(context) return context end
