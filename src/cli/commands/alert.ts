import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider alert …`. */
export function addAlerts(program: Command, end: (code: number) => void): void {
  const alert = program.command('alert').description('show alerts, and test the channels that receive them')
  withRecords(alert.command('list'))
    .description('list firing alerts, the last ones that ended, and the channels')
    .action(async (options) => (await import('../alert.ts')).listAlerts(options))
  withRecords(alert.command('test'))
    .description('send a test to every channel; exits with 1 if one fails')
    .action(async (options) => end(await (await import('../alert.ts')).testAlerts(options)))
}
