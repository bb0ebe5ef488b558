import { runCommand } from './cli/program.ts'
import { flushLog } from './platform/log.ts'

const code = await runCommand(process.argv.slice(2))
flushLog()
process.exit(code)
