import { type Command, Option } from 'commander'
import type { CreatedWebhook, Webhook, WebhookDelivery, WebhookWithNewSecret } from '../../client/types.ts'
import { EVENT_TYPES, STANDARD_EVENT_TYPES } from '../../model/event.ts'
import { type EndpointHeaders, readEndpointHeaders } from '../given-files.ts'
import { addList, addOperation, type Given } from '../operation-command.ts'
import { gather, HEADERS, LIMIT, ORG, whole } from '../options.ts'
import * as places from '../places.ts'

/** `postrider webhook …`. */
export function addWebhooks(program: Command): void {
  const parent = program.command('webhook').description('manage webhooks and their deliveries')
  addList(parent, 'list', 'webhooks_list', {
    about: 'list webhooks',
    place: places.organizations,
    placed: [new Option('--org <org>', 'only webhooks of this organization')],
    columns: { id: 'id', status: stateOf, events: eventsOf, url: 'url' },
    none: 'no webhooks yet',
  })
  addOperation(parent, 'create', 'webhooks_create', {
    about: 'create a webhook; its signing secret is shown only once',
    place: places.organization,
    placed: [ORG],
    body: {
      url: new Option('--url <url>', 'HTTPS URL of your endpoint').makeOptionMandatory(),
      events: new Option('--event <type>', 'event type; repeatable (default: the eight standard types)').argParser(
        gather,
      ),
      description: DESCRIPTION,
    },
    others: HEADERS,
    given: ({ options }: Given<EndpointHeaders & { event?: string[] }>) => {
      const events = options.event ?? STANDARD_EVENT_TYPES
      return { body: { events, headers: readEndpointHeaders(options) } }
    },
    text: secretText,
  })
  addOperation(parent, 'update <id>', 'webhooks_update', {
    about: 'change a webhook',
    place: places.webhook,
    body: {
      url: new Option(
        '--url <url>',
        'HTTPS URL of your endpoint; another host removes headers that you do not set again',
      ),
      events: new Option('--event <type>', 'event type, instead of the present ones; repeatable').argParser(gather),
      description: DESCRIPTION,
    },
    others: [...HEADERS, new Option('--no-headers', 'remove its headers')],
    given: ({ options }: Given<EndpointHeaders>) => ({ body: { headers: readEndpointHeaders(options) } }),
    text: webhookText,
  })
  addOperation(parent, 'show <id>', 'webhooks_get', {
    about: 'show a webhook',
    place: places.webhook,
    text: webhookText,
  })
  addOperation(parent, 'pause <id>', 'webhooks_update', {
    about: 'stop sending; events during the pause are not sent later',
    place: places.webhook,
    given: () => ({ body: { status: 'paused' } }),
    text: webhookText,
  })
  addOperation(parent, 'resume <id>', 'webhooks_update', {
    about: 'resume sending, including pending deliveries',
    place: places.webhook,
    given: () => ({ body: { status: 'active' } }),
    text: webhookText,
  })
  addOperation(parent, 'delete <id>', 'webhooks_delete', {
    about: 'delete a webhook and its deliveries',
    place: places.webhook,
    text: (_, { operands: [id] }) => `${id} is deleted`,
  })
  addOperation(parent, 'rotate-secret <id>', 'webhooks_rotate_secret', {
    about: 'create a new signing secret, shown only once; both secrets sign during the grace period',
    place: places.webhook,
    body: {
      grace_period_minutes: new Option('--grace <minutes>', 'how long the old secret stays valid')
        .argParser((text) => whole(text, 0, 10_080, 'number'))
        .default(60),
    },
    text: secretText,
  })
  addDeliveries(parent)
}

function addDeliveries(parent: Command): void {
  const eventType = (about: string) => new Option('--event <type>', about).choices(EVENT_TYPES)
  addOperation(parent, 'test <id>', 'webhooks_test', {
    about: 'send a sample event',
    place: places.webhook,
    body: { type: eventType('event type to send').default('message.delivered') },
    text: ({ id }, { operands: [webhook] }) =>
      `${id} is queued. See the result with: postrider webhook deliveries ${webhook}`,
  })
  addList(parent, 'deliveries <id>', 'webhook_deliveries_list', {
    about: 'list deliveries and their responses, newest first',
    place: places.webhook,
    query: {
      status: new Option('--status <status>', 'only deliveries with this status').choices([
        'pending',
        'delivered',
        'failed',
      ]),
      type: eventType('only events of this type'),
      limit: LIMIT,
    },
    columns: {
      time: 'created_at',
      id: 'id',
      event: 'type',
      status: 'status',
      attempts: ({ attempts }) => String(attempts.length),
      'last response': responseOf,
    },
    none: 'no deliveries yet',
  })
  addOperation(parent, 'retry <delivery>', 'webhook_deliveries_retry', {
    about: 'retry a delivery (whd_…) now',
    place: places.webhookDelivery,
    text: (_, { operands: [id] }) => `retrying ${id} now`,
  })
  addOperation(parent, 'replay <id>', 'webhooks_replay', {
    about: 'resend past events with their original ids',
    place: places.webhook,
    body: {
      from: new Option('--from <time>', 'ISO 8601 time of the first event').makeOptionMandatory(),
      to: new Option('--to <time>', 'ISO 8601 time to stop before (default: now)'),
      type: eventType('only events of this type'),
    },
    text: ({ queued }) => `queued ${queued} events for resending`,
  })
}

const DESCRIPTION = new Option('--description <text>', 'description')

function webhookText(webhook: Webhook): string {
  const { id, url, header_names: headers, last_success_at: success, last_failure_at: failure } = webhook
  return [
    `${id} is ${stateOf(webhook)}   ${url}`,
    `  events        ${eventsOf(webhook)}`,
    ...(headers.length === 0 ? [] : [`  headers       ${headers.join(', ')}`]),
    `  last success  ${success ?? '-'}`,
    `  last failure  ${failure ?? '-'}`,
  ].join('\n')
}

function secretText({ id, url, secret }: CreatedWebhook | WebhookWithNewSecret): string {
  return `${secret}\n\nStore this secret now: it is shown only once. It signs the requests to ${url} (${id}).`
}

function stateOf({ status, disabled_reason: reason }: Webhook): string {
  return reason === null ? status : `${status} (${reason})`
}

function eventsOf({ events }: Webhook): string {
  if (events.length === EVENT_TYPES.length) return 'all'
  if (!STANDARD_EVENT_TYPES.every((type) => events.includes(type))) return events.join(',')
  const standard: readonly string[] = STANDARD_EVENT_TYPES
  return ['standard', ...events.filter((type) => !standard.includes(type))].join(',')
}

function responseOf({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1)
  return String(last?.status_code ?? last?.error ?? '-')
}
