import type { Command } from 'commander'
import { recordTable } from '../columns.ts'
import { addOperation } from '../operation-command.ts'
import { withRecords } from '../options.ts'
import { installation } from '../places.ts'

/** `postrider relay …`. */
export function addRelays(program: Command, end: (code: number) => void): void {
  const relay = program.command('relay').description('show and test the relays that mail is sent through')
  addOperation(relay, 'list', 'relays_list', {
    about: 'list relays with their messages, failures and cost in this month',
    place: installation,
    text: ({ data }) =>
      recordTable(data, {
        name: 'name',
        server: ({ host, port }) => `${host}:${port}`,
        month: 'month',
        sent: 'sent',
        failed: 'failed',
        cost: ({ cost }) => (cost === null ? '' : String(cost)),
        'last error': ({ last_error }) => (last_error === null ? '' : `${last_error.at} ${last_error.message}`),
      }) || 'no relays are configured: [[relays]]',
  })
  withRecords(relay.command('test'))
    .description('connect to a relay and log in, without a message; exits with 1 if it fails')
    .argument('<name>', 'name of the relay, or smarthost')
    .action(async (name, options) => end(await (await import('../relay.ts')).testRelay(name, options)))
}
