import type { Command } from 'commander'
import { addList, addOperation } from '../operation-command.ts'
import { ORG } from '../options.ts'
import { organization, organizationWith } from '../places.ts'
import type { Results } from '../results.ts'

/** `postrider recipient …`. */
export function addRecipients(program: Command): void {
  const parent = program.command('recipient').description('erase what names a recipient')
  addOperation(parent, 'erase <address>', 'recipients_erase', {
    about: 'erase the messages, events and other records that name an address',
    place: organization,
    placed: [ORG],
    given: ({ operands: [email] }) => ({ body: { email } }),
    text: ({ id, status }) => `${id} is ${status}. The running server erases in the background.`,
  })
  addList(parent, 'list', 'recipients_erasures_list', {
    about: 'list the erasures of an organization',
    place: organization,
    placed: [ORG],
    columns: {
      id: 'id',
      status: 'status',
      created: 'created_at',
      finished: ({ finished_at }) => finished_at ?? '',
    },
    none: 'no erasures',
  })
  addOperation(parent, 'show <erasure>', 'recipients_erasure_get', {
    about: 'show the state of an erasure',
    place: organizationWith('erasure_id'),
    placed: [ORG],
    text: erasureText,
  })
}

function erasureText({ id, status, removed, remaining }: Results['recipients_erasure_get']): string {
  const spaced = (name: string) => name.replaceAll('_', ' ')
  return [
    `${id} is ${status}`,
    ...Object.entries(removed).map(([name, count]) => `  ${spaced(name)}: ${count}`),
    ...remaining.map(({ type, id }) => `  still named by: ${[spaced(type), id].join(' ')}`),
  ].join('\n')
}
