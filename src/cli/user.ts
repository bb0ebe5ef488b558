import type { User as UserRecord } from '../client/types.ts'
import { FIRST_USER, foldedEmail, ROLES, type User } from '../model/user.ts'
import type { Store } from '../storage/store.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { requireOrganization } from './org.ts'
import { print, printError, printJson, table } from './print.ts'
import type { Results } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Creates a user and prints a link that sets the password; the server also mails it if it can. With `operator`, the first user gets the address instead if
 *  it has none yet. Throws CommandFailure without a role, and Refusal for an address that is taken. */
export async function addUser(
  email: string,
  options: Options & { name?: string; org?: string; role?: string; operator?: true },
): Promise<void> {
  if (options.role === undefined && !options.operator)
    throw usageFault('user: choose --role, or --operator for an operator of the whole server')
  await withCliContext(options.config, async (context) => {
    const { store, operator } = context
    const organizationId = options.role === undefined ? '' : (await requireOrganization(options.org, store)).id
    const name = options.name ?? email.split('@', 1)[0] ?? ''
    const first = options.operator ? await store.users.get(FIRST_USER) : null
    const body = { email, name }
    const record =
      first !== null && first.email === null
        ? await operator.run('users_update', { organizationId: '', params: { user_id: first.id }, body })
        : await operator.run('users_create', {
            organizationId,
            body: { ...body, is_operator: options.operator ?? false, ...(options.role && { role: options.role }) },
          })
    const link = await linkFor(record.id, context)
    if (options.json) return printJson({ ...record, reset: link })
    show([record], options)
    showLink(link)
  })
}

/** Prints all users, or those of an organization. */
export async function listUsers(options: Options & { org?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizationId = options.org === undefined ? '' : (await requireOrganization(options.org, store)).id
    const records = await operator.listAll('users_list', organizationId)
    if (options.json) printJson({ data: records })
    else show(records, options)
  })
}

/** Sets the role of a user in an organization; `none` removes it. Throws CommandFailure for an unknown user or role. */
export async function setRole(name: string, role: string, options: Options & { org?: string }): Promise<void> {
  if (role !== 'none' && !ROLES.some((each) => each === role))
    throw usageFault(`user: unknown role ${role}. Choose one of ${ROLES.join(', ')}, none`)
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id } = await requireUser(name, store)
    const request = { organizationId: (await requireOrganization(options.org, store)).id, params: { user_id: id } }
    if (role !== 'none') {
      const record = await operator.run('users_update', { ...request, body: { role } })
      show([record], options)
      if (isWaiting(record)) printError(`\n${WAITING}`)
      return
    }
    const removed = await operator.run('users_delete', request)
    if (options.json) printJson(removed)
    else print(`${name} has no role in the organization`)
  })
}

/** Prints a link that sets the password of a user; the server also mails it if it can. Throws CommandFailure for an unknown user. */
export async function resetPassword(name: string, options: Options): Promise<void> {
  await withCliContext(options.config, async (context) => {
    const { id } = await requireUser(name, context.store)
    const link = await linkFor(id, context)
    if (options.json) printJson(link)
    else showLink(link)
  })
}

/** Deletes a user. Throws CommandFailure for an unknown user, and Refusal for the last operator. */
export async function removeUser(name: string, options: Options & { keepKeys?: true }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id } = await requireUser(name, store)
    const query = { keys: options.keepKeys ? 'keep' : 'revoke' }
    const removed = await operator.run('users_delete', { organizationId: '', params: { user_id: id }, query })
    if (options.json) printJson(removed)
    else print(`${name} is removed`)
  })
}

type Link = Results['users_reset']

const linkFor = (id: string, { operator }: CliContext): Promise<Link> =>
  operator.run('users_reset', { organizationId: '', params: { user_id: id } })

function showLink({ url, expires_at, mail_reason }: Link): void {
  print(url)
  printError(`\nThe link sets the password once. It expires at ${expires_at}.`)
  printError(mail_reason === null ? 'A mail with the link is queued.' : `No mail is sent: ${NOT_SENT[mail_reason]}.`)
}

const NOT_SENT: Record<NonNullable<Link['mail_reason']>, string> = {
  not_configured: 'users.mail_from is empty',
  single_sign_on_only: 'oidc.only refuses passwords and links',
  domain_not_verified: 'the domain of users.mail_from is not verified',
  sending_paused: 'sending from the domain of users.mail_from is paused by an alert',
  no_address: 'the user has no email address',
  received_here: 'this server receives mail for the address, and its organization could read the link',
  suppressed: 'earlier mail to the address bounced',
  limit_reached: 'too many mails were sent to the address or by the organization',
}

async function requireUser(name: string, { users }: Pick<Store, 'users'>): Promise<User> {
  const user = name.includes('@') ? await users.findByEmail(foldedEmail(name)) : await users.get(name)
  if (user !== null) return user
  throw new CommandFailure(`user: no user ${name}. List users with: postrider user list`)
}

const isWaiting = ({ awaiting }: UserRecord) => granted(awaiting).length > 0
const WAITING =
  'The role waits until the address is verified: run postrider user reset EMAIL and give the link to the person.\nWhat the account could sign in with before has ended.'

const granted = ({ is_operator, roles }: UserRecord['awaiting']) => [
  ...(is_operator ? ['operator'] : []),
  ...roles.map(({ organization_id, role }) => `${role} of ${organization_id}`),
]

function show(records: UserRecord[], { json }: Options): void {
  if (json) {
    printJson(records[0])
    return
  }
  const rows = records.map(({ id, email, email_verified_at, name, awaiting, disabled_at, last_seen_at, ...held }) => [
    id,
    email ?? '-',
    name,
    [
      ...granted(held),
      ...granted(awaiting).map((each) => `${each} (waits)`),
      ...(email !== null && email_verified_at === null ? ['address not verified'] : []),
      ...(disabled_at === null ? [] : ['disabled']),
    ].join(', '),
    last_seen_at ?? 'never',
  ])
  print(table(['id', 'email', 'name', 'roles', 'last seen'], rows))
}
