import { withRuntimeSettings } from './platform/runtime-settings.ts'

const args = process.argv.slice(2)
if (args[0] === 'serve') withRuntimeSettings()
const { runCommand } = await import('./cli/program.ts')
const { flushLog } = await import('./platform/log.ts')

const code = await runCommand(args)
flushLog()
process.exit(code)
