import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider address …`. */
export function addAddresses(program: Command): void {
  const address = program.command('address').description('show the IP addresses that mail is sent from')
  withRecords(address.command('list'))
    .description('list sending addresses with pool, reverse DNS, blocklists and organization')
    .action(async (options) => (await import('../address.ts')).listAddresses(options))
}
