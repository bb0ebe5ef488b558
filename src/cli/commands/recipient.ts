import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider recipient …`. */
export function addRecipients(program: Command): void {
  const parent = program.command('recipient').description('erase what names a recipient')
  const add = (words: string) =>
    withRecords(parent.command(words)).option('--org <org>', 'organization id or name; required if there are several')

  add('erase <address>')
    .description('erase the messages, events and other records that name an address')
    .action(async (address, options) => (await import('../recipient.ts')).eraseRecipient(address, options))
  add('list')
    .description('list the erasures of an organization')
    .action(async (options) => (await import('../recipient.ts')).listErasures(options))
  add('show <erasure>')
    .description('show the state of an erasure')
    .action(async (id, options) => (await import('../recipient.ts')).showErasure(id, options))
}
