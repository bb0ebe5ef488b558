import { iso } from '../model/event.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { requireDomain } from './domain.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { formatStep, stepsOf } from './follow.ts'
import { formatArrival } from './listen/format.ts'
import type { OperatorRequest } from './operator.ts'
import { requireOrganization } from './org.ts'
import { colorsFor, print, printJson, sanitize, table } from './print.ts'
import type { ListName, OperationName, Results } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Query parameters of a list, by their names in the API. Undefined ones are omitted. */
type Filter = Record<string, string | undefined>

/** Prints the newest `limit` messages that match the filters, newest first, or "no messages". Throws CommandFailure for
 *  an unknown `org`. */
export async function listMessages(
  options: Options & {
    org?: string
    limit: number
    to?: string
    from?: string
    subject?: string
    tag?: string
    status?: string
    mode?: string
    search?: string
  },
): Promise<void> {
  const { to, from, subject, tag, status, mode, search: q } = options
  const page = await list('messages_list', options, { to, from, subject, tag, status, mode, q })
  if (options.json) return printJson(page)
  const rows = page.data.map((each) => [
    each.created_at,
    each.id,
    each.status,
    each.recipients.map(({ email }) => email).join(', '),
    sanitize(each.subject),
  ])
  print(table(['time', 'id', 'status', 'to', 'subject'], rows) || 'no messages')
}

/** Prints a message and all its delivery attempts, oldest first. Throws CommandFailure for an unknown id. */
export async function showMessage(id: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const request = await requestFor(id, store)
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

/** Prints why each recipient has its status. Throws CommandFailure for an unknown id. */
export async function explainMessage(id: string, options: Options): Promise<void> {
  const explained = await run('messages_explain', id, options)
  if (options.json) return printJson(explained)
  print(`${id} is ${explained.status}`)
  for (const each of explained.recipients) {
    print(`\n${each.email} is ${each.status}`)
    for (const line of each.explanation) print(`  ${sanitize(line)}`)
    if (each.mx_hosts !== null && each.site === null) print(`  ${askServer(`/v1/messages/${id}/explain`)}`)
  }
}

/** The command line has no state of destinations: the process that sends keeps it in memory. */
const askServer = (path: string) =>
  `The running server also explains connections, pauses, fail-over and warm-up: GET ${path}, with an API key`

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

/** Cancels the deliveries of a message that have not started and prints its status. Throws CommandFailure for an
 *  unknown id, and Refusal if nothing can be cancelled. */
export async function cancelMessage(id: string, options: Options): Promise<void> {
  const answer = await run('messages_cancel', id, options)
  if (options.json) printJson(answer)
  else print(`${id} is ${answer.status}`)
}

/** Sends the content of a message again as a new message and prints its id and status. Throws CommandFailure for an
 *  unknown id, and Refusal if the content is no longer stored. */
export async function resendMessage(id: string, options: Options): Promise<void> {
  const answer = await run('messages_resend', id, options)
  if (options.json) printJson(answer)
  else print(`${answer.id} is ${answer.status}`)
}

/** Deletes the content of a message. Throws CommandFailure for an unknown id, and Refusal while a delivery is open or if the
 *  content is no longer stored. */
export async function deleteMessageContent(id: string, options: Options): Promise<void> {
  const answer = await run('messages_delete_content', id, options)
  if (options.json) printJson(answer)
  else print(`deleted content of ${id}`)
}

/** Prints the newest `limit` events that match the filters, newest first, one line each, or "no events". Throws
 *  CommandFailure for an unknown `org`. */
export async function listEvents(
  options: Options & { org?: string; limit: number; type?: string; message?: string; mode?: string },
): Promise<void> {
  const { type, message: message_id, mode } = options
  const page = await list('events_list', options, { type, message_id, mode })
  if (options.json) return printJson(page)
  const colors = colorsFor(process.env, process.stdout.isTTY)
  for (const event of page.data) {
    print(
      `${colors.dim(event.timestamp.slice(0, 10))} ${formatArrival({ ...event, body: JSON.stringify(event) }, colors)}`,
    )
  }
  if (page.data.length === 0) print('no events')
}

/** Prints an event and its data. Throws CommandFailure for an unknown id. */
export async function showEvent(id: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const stored = await store.events.get(id)
    if (stored === null)
      throw new CommandFailure(`event: no event ${id}. List recent events with: postrider event list`)
    const { organizationId } = stored
    const event = await operator.run('events_get', { organizationId, params: { event_id: id } })
    if (options.json) return printJson(event)
    print(`${id} is ${event.type} at ${event.timestamp}`)
    const values = Object.entries(event.data).filter(([, value]) => value !== null)
    for (const [name, value] of values)
      print(`  ${name}: ${sanitize(typeof value === 'string' ? value : JSON.stringify(value))}`)
  })
}

function list<Id extends ListName>(
  operation: Id,
  { config, org, limit }: Options & { org?: string; limit: number },
  filter: Filter,
): Promise<Results[Id]> {
  return withCliContext(config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(org, store)
    const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    return operator.run(operation, { organizationId, query: { ...Object.fromEntries(given), limit: String(limit) } })
  })
}

function run<Id extends OperationName>(operation: Id, id: string, { config }: Options): Promise<Results[Id]> {
  return withCliContext(config, async ({ store, operator }) => operator.run(operation, await requestFor(id, store)))
}

/** Request for an operation on a message. It uses the domain and the mode of the message, which a resent copy keeps. */
async function requestFor(id: string, store: Store): Promise<OperatorRequest> {
  const message = await store.messages.get(id)
  if (message !== null) {
    const { organizationId, domainId, mode } = message
    return { organizationId, domainId, mode, params: { message_id: id } }
  }
  throw new CommandFailure(`message: no message ${id}. List recent messages with: postrider message list`)
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
