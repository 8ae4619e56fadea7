function run(context) return 42 end
