import { iso } from '../model/event.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { askServer } from './commands/message.ts'
import { usageFault } from './failure.ts'
import { formatStep, stepsOf } from './follow.ts'
import { message as messagePlace, requireDomain } from './places.ts'
import { colorsFor, print, printJson, sanitize } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Prints a message and all its delivery attempts, oldest first. Throws CommandFailure for an unknown id. */
export async function showMessage(id: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const request = await messagePlace({ operands: [id], options }, { store })
    const message = await operator.run('messages_get', request)
    if (options.json) {
      const { data: attempts, reports } = await operator.run('messages_attempts', request)
      return printJson({ ...message, attempts, reports })
    }
    const deliveries = await store.messages.deliveries(id)
    const attempts = await store.messages.attempts(id)
    const colors = colorsFor(process.env, process.stdout.isTTY)
    print(`${id} is ${message.status}   ${sanitize(message.subject)}`)
    print(`${colors.dim(message.created_at.slice(11, 19))} ${'accepted'.padEnd(10)} from ${sanitize(message.from)}`)
    // The store has no time for a final status without an attempt: show the last known time.
    const endedAt = Math.max(
      Date.parse(message.created_at),
      ...deliveries.map(({ lastAttemptAt }) => lastAttemptAt ?? 0),
    )
    for (const step of stepsOf(deliveries, attempts, endedAt)) print(formatStep(step, colors))
    for (const { email, status, attempts, nextAttemptAt } of deliveries) {
      if (attempts === 0 && nextAttemptAt !== null)
        print(`${' '.repeat(8)} ${status.padEnd(10)} ${email}  first attempt at ${iso(nextAttemptAt)}`)
    }
  })
}

/** Prints whether a message from a domain to an address would be sent now, and why. `domain` may be omitted if there is
 *  only one. Throws CommandFailure for an unknown or missing domain. */
export async function explainAddress(
  options: Options & { to: string; domain?: string; stream?: string },
): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const domain = await requireSender(options.domain, store)
    const { organizationId, id: domainId } = domain
    const { to, stream } = options
    const query = { to, ...(stream && { stream }) }
    const explained = await operator.run('explain_address', { organizationId, domainId, query })
    if (options.json) return printJson(explained)
    const verdict = explained.would_send ? 'would be sent' : 'would not be sent'
    print(`A message from ${domain.name} to ${explained.to} ${verdict}`)
    for (const line of explained.explanation) print(`  ${sanitize(line)}`)
    if (explained.would_send && explained.site === null)
      print(`  ${askServer(`/v1/explain?to=${encodeURIComponent(explained.to)}`)}`)
  })
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
