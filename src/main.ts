import { withRuntimeSettings } from './os/runtime-settings.ts'

// Overrides the umask of the shell: others may not write our files, and the owner may read them.
process.umask((process.umask() | 0o022) & 0o077)

const args = process.argv.slice(2)
if (args[0]?.startsWith('confined-reader')) {
  const { runReader } = await import('./server/inbound-readers.ts')
  await runReader(args)
}
if (args[0] === 'serve') withRuntimeSettings()
const { runCommand } = await import('./cli/program.ts')
const { flushLog } = await import('./os/log.ts')

const code = await runCommand(args)
flushLog()
process.exit(code)
