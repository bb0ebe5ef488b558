import type { CreatedWebhook, Webhook, WebhookDelivery, WebhookWithNewSecret } from '../client/types.ts'
import { EVENT_TYPES, STANDARD_EVENT_TYPES } from '../model/event.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { readEndpointHeaders } from './given-files.ts'
import { requireOrganization } from './org.ts'
import { print, printJson, sanitize, table } from './print.ts'
import type { OperationName, Results } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Options with the values of a webhook. */
interface WebhookOptions extends Options {
  url?: string
  event?: string[]
  description?: string
  /** `Name: value` each. */
  header?: string[]
  /** A file with such lines; false removes all. */
  headers?: string | false
}

/** Prints the webhooks of one organization, or of all, or "no webhooks yet". Throws CommandFailure for
 *  an unknown `org`. */
export async function listWebhooks(options: Options & { org?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const owners =
      options.org === undefined ? await store.organizations.list() : [await requireOrganization(options.org, store)]
    const lists = await Promise.all(owners.map(({ id }) => operator.listAll('webhooks_list', id)))
    const webhooks = lists.flat()
    if (options.json) return printJson({ data: webhooks })
    const rows = webhooks.map((each) => [String(each.id), stateOf(each), eventsOf(each), String(each.url)])
    print(table(['id', 'status', 'events', 'url'], rows) || 'no webhooks yet')
  })
}

/** Creates a webhook, by default for the standard event types, and prints it with its secret, which cannot be shown again.
 *  Throws CommandFailure for an unknown `org`, and Refusal for an invalid URL. */
export async function createWebhook(options: WebhookOptions & { url: string; org?: string }): Promise<void> {
  const { url, event: events = STANDARD_EVENT_TYPES, description } = options
  const headers = readEndpointHeaders(options) // before root becomes the owner of the data, who may not read the file
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const webhook = await operator.run('webhooks_create', {
      organizationId,
      body: { url, events, description, headers },
    })
    showSecret(webhook, options)
  })
}

/** Changes the given values of a webhook and prints it. Throws CommandFailure (exit code 2) without a change. */
export async function updateWebhook(id: string, options: WebhookOptions): Promise<void> {
  const { url, event: events, description } = options
  const body = { url, events, description, headers: readEndpointHeaders(options) }
  if (Object.values(body).every((value) => value === undefined))
    throw usageFault('webhook: no change given. See --help')
  show(await run('webhooks_update', id, options, body), options)
}

/** Prints a webhook. Throws CommandFailure for an unknown id, as all functions below do. */
export async function showWebhook(id: string, options: Options): Promise<void> {
  show(await run('webhooks_get', id, options), options)
}

/** Pauses or resumes a webhook. */
export async function setStatus(id: string, status: 'paused' | 'active', options: Options): Promise<void> {
  show(await run('webhooks_update', id, options, { status }), options)
}

/** Deletes a webhook and its deliveries. */
export async function deleteWebhook(id: string, options: Options): Promise<void> {
  const answer = await run('webhooks_delete', id, options)
  if (options.json) printJson(answer)
  else print(`${id} is deleted`)
}

/** Creates a new secret and prints it; it cannot be shown again. The old secret expires after `grace` minutes. */
export async function rotateSecret(id: string, options: Options & { grace: number }): Promise<void> {
  const body = { grace_period_minutes: options.grace }
  showSecret(await run('webhooks_rotate_secret', id, options, body), options)
}

/** Queues a sample event; `postrider webhook deliveries` shows the result. */
export async function testWebhook(id: string, options: Options & { event: string }): Promise<void> {
  const event = await run('webhooks_test', id, options, { type: options.event })
  if (options.json) printJson(event)
  else print(`${event.id} is queued. See the result with: postrider webhook deliveries ${id}`)
}

/** Prints the newest `limit` deliveries of a webhook, newest first, with the last response, or "no deliveries yet". */
export async function listDeliveries(
  id: string,
  options: Options & { status?: string; event?: string; limit: number },
): Promise<void> {
  const { status, event, limit } = options
  const query: Record<string, string> = { limit: String(limit) }
  if (status !== undefined) query.status = status
  if (event !== undefined) query.type = event
  const page = await run('webhook_deliveries_list', id, options, undefined, query)
  if (options.json) return printJson(page)
  const rows = page.data.map((each) => [
    each.created_at,
    each.id,
    each.type,
    each.status,
    String(each.attempts.length),
    responseOf(each),
  ])
  print(table(['time', 'id', 'event', 'status', 'attempts', 'last response'], rows) || 'no deliveries yet')
}

/** Retries a delivery now. Throws CommandFailure for an unknown delivery. */
export async function retryDelivery(id: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const delivery = await store.webhookDeliveries.get(id)
    if (delivery === null)
      throw new CommandFailure(
        `delivery: no delivery ${id}. List deliveries with: postrider webhook deliveries WEBHOOK_ID`,
      )
    const params = { webhook_id: delivery.webhookId, delivery_id: id }
    const organizationId = await ownerOf(delivery.webhookId, store)
    const answer = await operator.run('webhook_deliveries_retry', { organizationId, params })
    if (options.json) printJson(answer)
    else print(`retrying ${id} now`)
  })
}

/** Queues past events of a time range again, with their ids. `from` and `to` are ISO 8601; without `to` until now. */
export async function replay(
  id: string,
  options: Options & { from: string; to?: string; event?: string },
): Promise<void> {
  const answer = await run('webhooks_replay', id, options, { from: options.from, to: options.to, type: options.event })
  if (options.json) printJson(answer)
  else print(`queued ${answer.queued} events for resending`)
}

function run<Id extends OperationName>(
  operation: Id,
  id: string,
  { config }: Options,
  body?: unknown,
  query?: Record<string, string>,
): Promise<Results[Id]> {
  return withCliContext(config, async ({ store, operator }) => {
    const request = { organizationId: await ownerOf(id, store), params: { webhook_id: id }, body }
    return operator.run(operation, query === undefined ? request : { ...request, query })
  })
}

async function ownerOf(id: string, store: Store): Promise<string> {
  const webhook = await store.webhooks.get(id)
  if (webhook !== null) return webhook.organizationId
  throw new CommandFailure(`webhook: no webhook ${id}. List webhooks with: postrider webhook list`)
}

function show(webhook: Webhook, { json }: Options): void {
  if (json) printJson(webhook)
  else print(describe(webhook))
}

function describe(webhook: Webhook): string {
  const { id, url, header_names: headers, last_success_at: success, last_failure_at: failure } = webhook
  return [
    `${id} is ${stateOf(webhook)}   ${url}`,
    `  events        ${eventsOf(webhook)}`,
    ...(headers.length === 0 ? [] : [`  headers       ${headers.join(', ')}`]),
    `  last success  ${success ?? '-'}`,
    `  last failure  ${failure ?? '-'}`,
  ].join('\n')
}

function showSecret(webhook: CreatedWebhook | WebhookWithNewSecret, { json }: Options): void {
  if (json) printJson(webhook)
  else
    print(
      `${webhook.secret}\n\nStore this secret now: it is shown only once. It signs the requests to ${webhook.url} (${webhook.id}).`,
    )
}

function stateOf({ status, disabled_reason: reason }: Webhook): string {
  return reason === null || reason === undefined ? String(status) : `${status} (${sanitize(String(reason))})`
}

function eventsOf({ events }: Webhook): string {
  if (events.length === EVENT_TYPES.length) return 'all'
  if (!STANDARD_EVENT_TYPES.every((type) => events.includes(type))) return events.join(',')
  const standard: readonly string[] = STANDARD_EVENT_TYPES
  return ['standard', ...events.filter((type) => !standard.includes(type))].join(',')
}

function responseOf({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1)
  return last === undefined ? '-' : sanitize(String(last.status_code ?? last.error ?? '-'))
}
