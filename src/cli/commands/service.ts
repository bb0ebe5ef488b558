import type { Command } from 'commander'
import { seconds, withConfig, withRecords } from '../options.ts'

/** `unit`, `status` and `healthcheck`. */
export function addService(program: Command, end: (code: number) => void): void {
  withConfig(program.command('unit'))
    .description('print a systemd unit that runs the server with minimal privileges')
    .action(async (options) => (await import('../service-unit.ts')).printUnit(options))

  withRecords(program.command('status'))
    .description('show whether the server runs, its listeners, the queues and the nodes; exits with 0 only if it runs')
    .action(async (options) => end(await (await import('../status.ts')).status(options)))

  withConfig(program.command('healthcheck'))
    .description('ask the running server if it is ready; exits with 0 only if it is')
    .option('--timeout <seconds>', 'maximum time to wait for a response', seconds, 5)
    .action(async (options) => (await import('../healthcheck.ts')).healthcheck(options))
}
