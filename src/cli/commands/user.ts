import { type Command, Option } from 'commander'
import type { User } from '../../client/types.ts'
import { ROLES } from '../../model/user.ts'
import type { Columns } from '../columns.ts'
import { addList, addOperation, type Given } from '../operation-command.ts'
import { withRecords } from '../options.ts'
import * as places from '../places.ts'
import type { PasswordLink } from '../results.ts'
import { withServer } from '../server-access.ts'

const ORG = 'organization (id or name); needed if there are several'

/** `postrider user …`. */
export function addUsers(program: Command): void {
  const user = program.command('user').description('manage the people who sign in to the dashboard')
  withRecords(user.command('add <email>'))
    .description('create a user and print a link that sets the password')
    .option('--name <name>', 'name; by default the local part of the address')
    .option('--org <org>', ORG)
    .addOption(new Option('--role <role>', 'role in the organization').choices(ROLES))
    .option('--operator', 'operator of the whole server')
    .action(async (email, options) => (await import('../user.ts')).addUser(email, options))
  addList(user, 'list', 'users_list', {
    about: 'list users with their roles',
    place: places.organizationIfGiven,
    placed: [new Option('--org <org>', 'only users of this organization (id or name)')],
    columns: USER_COLUMNS,
    none: 'no users',
  })
  withServer(withRecords(user.command('role <user> <role>')))
    .description(`set the role of a user (email or id) in an organization: ${ROLES.join(', ')}, or none`)
    .option('--org <org>', ORG)
    .action(async (name, role, options) => (await import('../user.ts')).setRole(name, role, options))
  addOperation(user, 'reset <user>', 'users_reset', {
    about: 'print a link that sets the password of a user (email or id)',
    place: places.user,
    text: ({ url }) => url,
    remark: (link, { options }) => (options.json ? null : linkRemark(link)),
  })
  addOperation(user, 'remove <user>', 'users_delete', {
    about: 'delete a user (email or id), end all sessions of the user and revoke the keys that the user made',
    place: places.user,
    others: [new Option('--keep-keys', 'the keys go on and belong to their organization')],
    given: ({ options }: Given<{ keepKeys?: true }>) => ({ query: { keys: options.keepKeys ? 'keep' : 'revoke' } }),
    text: (_, { operands: [name] }) => `${name} is removed`,
  })
}

/** How long a link is valid, and whether the server also mails it. */
export function linkRemark({ expires_at, mail_reason }: PasswordLink): string {
  const mailed = mail_reason === null ? 'A mail with the link is queued.' : `No mail is sent: ${NOT_SENT[mail_reason]}.`
  return `\nThe link sets the password once. It expires at ${expires_at}.\n${mailed}`
}

const NOT_SENT: Record<NonNullable<PasswordLink['mail_reason']>, string> = {
  not_configured: 'users.mail_from is empty',
  single_sign_on_only: 'oidc.only refuses passwords and links',
  domain_not_verified: 'the domain of users.mail_from is not verified',
  sending_paused: 'sending from the domain of users.mail_from is paused by an alert',
  no_address: 'the user has no email address',
  received_here: 'this server receives mail for the address, and its organization could read the link',
  suppressed: 'earlier mail to the address bounced',
  limit_reached: 'too many mails were sent to the address or by the organization',
}

export const USER_COLUMNS: Columns<User> = {
  id: 'id',
  email: 'email',
  name: 'name',
  roles: rolesOf,
  'last seen': ({ last_seen_at }) => last_seen_at ?? 'never',
}

function rolesOf({ email, email_verified_at, awaiting, disabled_at, ...held }: User): string {
  return [
    ...granted(held),
    ...granted(awaiting).map((each) => `${each} (waits)`),
    ...(email !== null && email_verified_at === null ? ['address not verified'] : []),
    ...(disabled_at === null ? [] : ['disabled']),
  ].join(', ')
}

export const granted = ({ is_operator, roles }: User['awaiting']) => [
  ...(is_operator ? ['operator'] : []),
  ...roles.map(({ organization_id, role }) => `${role} of ${organization_id}`),
]
