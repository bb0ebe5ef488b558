import type { Command } from 'commander'
import { seconds, withConfig, withRecords } from '../options.ts'

/** What a machine that runs the server asks for. */
export function addService(program: Command, end: (code: number) => void): void {
  withConfig(program.command('unit'))
    .description('print a systemd unit that starts the server with the rights it needs and no others')
    .action(async (options) => (await import('../unit.ts')).printUnit(options))

  withRecords(program.command('status'))
    .description('whether a server runs, where it listens and what waits; exit code 0 only when one runs')
    .action(async (options) => end(await (await import('../status.ts')).status(options)))

  withConfig(program.command('healthcheck'))
    .description('ask the running server whether it is ready; exit code 0 only when it is')
    .option('--timeout <seconds>', 'wait so long for its answer', seconds, 5)
    .action(async (options) => (await import('../healthcheck.ts')).healthcheck(options))
}
