import { type Command, Option } from 'commander'
import { SUPPRESSION_REASONS } from '../../model/suppression.ts'
import { addList, addOperation } from '../operation-command.ts'
import { LIMIT, ORG } from '../options.ts'
import { organization, organizationOfDomain, organizationWith } from '../places.ts'
import { sanitize } from '../print.ts'

/** `postrider suppression …`. */
export function addSuppressions(program: Command): void {
  const parent = program.command('suppression').description('manage suppressed addresses')
  addList(parent, 'list', 'suppressions_list', {
    about: 'list suppressed addresses, newest first',
    place: organization,
    placed: [ORG],
    query: {
      email: new Option('--email <address>', 'only this address'),
      reason: new Option('--reason <reason>', 'only suppressions with this reason').choices(SUPPRESSION_REASONS),
      stream: new Option('--stream <stream>', 'only suppressions of this stream, without those of every stream'),
      limit: LIMIT,
    },
    columns: {
      since: 'created_at',
      address: 'email',
      reason: 'reason',
      stream: ({ stream }) => stream ?? 'all',
      source: ({ evidence, message_id }) => evidence ?? message_id ?? '-',
    },
    none: 'no suppressions',
  })
  addOperation(parent, 'add <address>', 'suppressions_create', {
    about: 'suppress an address, for all domains and streams of the organization or for one',
    place: organizationOfDomain,
    placed: [ORG, new Option('--domain <name>', 'only for mail from this domain')],
    body: {
      stream: new Option('--stream <stream>', 'only for mail of this stream'),
      reason: new Option('--reason <reason>', 'reason to record').choices(SUPPRESSION_REASONS).default('manual'),
    },
    given: ({ operands: [email] }) => ({ body: { email } }),
    text: ({ id, email }) => `suppressed ${sanitize(email)} (${id})`,
  })
  addOperation(parent, 'remove <address>', 'suppressions_delete', {
    about: 'remove all suppressions of an address, or one suppression by its id',
    place: organizationWith('id_or_email'),
    placed: [ORG],
    text: (_, { operands: [address] }) => `removed suppression of ${address}`,
  })
}
