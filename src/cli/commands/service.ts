import type { Command } from 'commander'
import { withConfig } from '../options.ts'

/** What a machine that runs the server asks for. */
export function addService(program: Command): void {
  withConfig(program.command('unit'))
    .description('print a systemd unit that starts the server with the rights it needs and no others')
    .action(async (options) => (await import('../unit.ts')).printUnit(options))
}
