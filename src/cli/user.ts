import type { User } from '../client/types.ts'
import { FIRST_USER, ROLES } from '../model/user.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { recordTable } from './columns.ts'
import { granted, linkRemark, USER_COLUMNS } from './commands/user.ts'
import { usageFault } from './failure.ts'
import { withOperations } from './operation-context.ts'
import { organization, requireOrganization, user } from './places.ts'
import { print, printError, printJson } from './print.ts'
import type { Server } from './server-access.ts'

interface Options {
  config: string
  json?: true
}

/** Creates a user and prints a link that sets the password; the server also mails it if it can. With `operator`, the first
 *  user gets the address instead if it has none yet. Throws CommandFailure without a role, and Refusal for an address that
 *  is taken. */
export async function addUser(
  email: string,
  options: Options & { name?: string; org?: string; role?: string; operator?: true },
): Promise<void> {
  if (options.role === undefined && !options.operator)
    throw usageFault('user: choose --role, or --operator for an operator of the whole server')
  const work = async ({ store, operator }: CliContext) => {
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
    const link = await operator.run('users_reset', { organizationId: '', params: { user_id: record.id } })
    if (options.json) return printJson({ ...record, reset: link })
    print(recordTable([record], USER_COLUMNS))
    print(link.url)
    printError(linkRemark(link))
  }
  await withCliContext(options.config, work, { fromElsewhere: INVITE })
}

/** No API key adds users: that would give its holder a way to sign in. */
const INVITE = 'invite people on the page Users of the dashboard'

/** Sets the role of a user in an organization; `none` removes it. Throws CommandFailure for an unknown user or role. */
export async function setRole(
  name: string,
  role: string,
  options: Options & { org?: string; server?: Server | null },
): Promise<void> {
  if (role !== 'none' && !ROLES.some((each) => each === role))
    throw usageFault(`user: unknown role ${role}. Choose one of ${ROLES.join(', ')}, none`)
  await withOperations(options, async (context) => {
    const { operator } = context
    const { organizationId } = await organization({ operands: [], options }, context)
    const request = { ...(await user({ operands: [name], options }, context)), organizationId }
    if (role !== 'none') {
      const record = await operator.run('users_update', { ...request, body: { role } })
      if (options.json) printJson(record)
      else print(recordTable([record], USER_COLUMNS))
      if (isWaiting(record)) printError(`\n${WAITING}`)
      return
    }
    const removed = await operator.run('users_delete', request)
    if (options.json) printJson(removed)
    else print(`${name} has no role in the organization`)
  })
}

const isWaiting = ({ awaiting }: User) => granted(awaiting).length > 0
const WAITING =
  'The role waits until the address is verified: run postrider user reset EMAIL and give the link to the person.\nWhat the account could sign in with before has ended.'
