import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider relay …`. */
export function addRelays(program: Command, end: (code: number) => void): void {
  const relay = program.command('relay').description('show and test the relays that mail is sent through')
  withRecords(relay.command('list'))
    .description('list relays with their messages, failures and cost in this month')
    .action(async (options) => (await import('../relay.ts')).listRelays(options))
  withRecords(relay.command('test'))
    .description('connect to a relay and log in, without a message; exits with 1 if it fails')
    .argument('<name>', 'name of the relay, or smarthost')
    .action(async (name, options) => end(await (await import('../relay.ts')).testRelay(name, options)))
}
