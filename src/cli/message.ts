import type { Store } from '../storage/store.ts'
import { askServer } from './commands/message.ts'
import { usageFault } from './failure.ts'
import { formatStep, stepsOf } from './follow.ts'
import { type OperationContext, withOperations } from './operation-context.ts'
import type { OperatorRequest } from './operator.ts'
import { message as messagePlace, requireDomain } from './places.ts'
import { colorsFor, print, printJson, sanitize } from './print.ts'
import type { Server } from './server-access.ts'

interface Options {
  config: string
  json?: true
  server?: Server | null
}

/** Prints a message and all its delivery attempts, oldest first. Throws CommandFailure for an unknown id. */
export async function showMessage(id: string, options: Options): Promise<void> {
  await withOperations(options, async ({ store, operator }) => {
    const request = await messagePlace({ operands: [id], options }, { store })
    const message = await operator.run('messages_get', request)
    const { data: attempts, reports } = await operator.run('messages_attempts', request)
    if (options.json) return printJson({ ...message, attempts, reports })
    const { recipients } = message
    const colors = colorsFor()
    print(`${id} is ${message.status}   ${sanitize(message.subject)}`)
    print(`${colors.dim(message.created_at.slice(11, 19))} ${'accepted'.padEnd(10)} from ${sanitize(message.from)}`)
    // There is no time for a final status without an attempt: show the last known time.
    const times = recipients.map(({ last_attempt_at }) => Date.parse(last_attempt_at ?? message.created_at))
    const endedAt = Math.max(Date.parse(message.created_at), ...times)
    for (const step of stepsOf({ recipients, attempts }, endedAt)) print(formatStep(step, colors))
    for (const { email, status, attempts, next_attempt_at } of recipients) {
      if (attempts === 0 && next_attempt_at !== null)
        print(`${' '.repeat(8)} ${status.padEnd(10)} ${email}  first attempt at ${next_attempt_at}`)
    }
  })
}

/** Prints whether a message from a domain to an address would be sent now, and why. `domain` may be omitted if there is
 *  only one. Throws CommandFailure for an unknown or missing domain. */
export async function explainAddress(
  options: Options & { to: string; domain?: string; stream?: string },
): Promise<void> {
  await withOperations(options, async (context) => {
    const { operator } = context
    const { name, request } = await senderOf(options.domain, context)
    const { to, stream } = options
    const query = { to, ...(stream && { stream }) }
    const explained = await operator.run('explain_address', { ...request, query })
    if (options.json) return printJson(explained)
    const verdict = explained.would_send ? 'would be sent' : 'would not be sent'
    print(`A message from ${name} to ${explained.to} ${verdict}`)
    for (const line of explained.explanation) print(`  ${sanitize(line)}`)
    if (explained.would_send && explained.site === null)
      print(`  ${askServer(`/v1/explain?to=${encodeURIComponent(explained.to)}`)}`)
  })
}

/** The name of the named domain or the only one, and where to ask. A key of another server sends from its own. */
async function senderOf(
  named: string | undefined,
  { store, operator }: OperationContext,
): Promise<{ name: string; request: OperatorRequest }> {
  if (store !== null) {
    const { name, id: domainId, organizationId } = await requireSender(named, store)
    return { name, request: { organizationId, domainId } }
  }
  const { domain } = await operator.run('me_get', { organizationId: '' })
  if (named !== undefined && named !== domain) throw usageFault(`domain: the API key is of ${domain}. Omit --domain`)
  return { name: domain ?? '', request: { organizationId: '' } }
}

/** The named domain, or the only one. */
async function requireSender(name: string | undefined, store: Store) {
  if (name !== undefined) return requireDomain(name, store)
  const organizations = await store.organizations.list()
  const pages = organizations.map(({ id }) => store.domains.list(id, { limit: 2, after: null }))
  const domains = (await Promise.all(pages)).flatMap(({ records }) => records)
  const [only, ...others] = domains
  if (only !== undefined && others.length === 0) return only
  throw usageFault(
    only === undefined
      ? 'domain: no domain yet. Add one with: postrider domain add'
      : 'domain: there are several domains. Choose one with --domain',
  )
}
