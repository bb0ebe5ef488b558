# Evaluates its argument, then runs a program for each line of input: folder and variables, separated by tabs.
# The program is example.rb in the folder; its output goes to the file `output` there. Prints each exit code.
eval(ARGV.fetch(0))
$stdout.sync = true
while (line = $stdin.gets)
  folder, *variables = line.chomp.split("\t")
  pid = fork do
    Dir.chdir(folder)
    variables.each { |each| ENV.store(*each.split("=", 2)) }
    $stdin.reopen(File::NULL)
    $stdout.reopen("output", "w")
    $stderr.reopen($stdout)
    load "./example.rb"
  end
  puts Process.wait2(pid).last.exitstatus.inspect
end
