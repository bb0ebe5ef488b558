import { type Command, Option } from 'commander'
import { EVENT_TYPES } from '../../model/event.ts'
import { MESSAGE_STATUSES } from '../../model/message.ts'
import { formatArrival } from '../listen/format.ts'
import { addList, addOperation } from '../operation-command.ts'
import { LIMIT, MODES, ORG, withRecords } from '../options.ts'
import * as places from '../places.ts'
import { sanitize } from '../print.ts'
import type { Results } from '../results.ts'
import { withServer } from '../server-access.ts'

/** `postrider message …`, `event …` and `explain`. */
export function addMessages(program: Command): void {
  const message = program
    .command('message')
    .description('list, inspect, cancel and resend messages, and delete their content')
  addList(message, 'list', 'messages_list', {
    about: 'list messages, newest first',
    place: places.organization,
    placed: [ORG],
    query: {
      to: new Option('--to <address>', 'only messages to this address'),
      from: new Option('--from <address>', 'only messages from this address'),
      subject: new Option('--subject <text>', 'only messages whose subject contains this text'),
      tag: new Option('--tag <tag>', 'only messages with this tag'),
      status: new Option('--status <status>', 'only messages with this status').choices(MESSAGE_STATUSES),
      mode: new Option('--mode <mode>', 'only live or test messages').choices(MODES),
      q: new Option('--search <words>', 'words in subject and addresses'),
      limit: LIMIT,
    },
    columns: {
      time: 'created_at',
      id: 'id',
      status: 'status',
      to: ({ recipients }) => recipients.map(({ email }) => email).join(', '),
      subject: 'subject',
    },
    none: 'no messages',
  })
  withServer(withRecords(message.command('show <id>')))
    .description('show a message, its recipients and every delivery attempt')
    .action(async (id, options) => (await import('../message.ts')).showMessage(id, options))
  addOperation(message, 'explain <id>', 'messages_explain', {
    about: 'explain the status of each recipient and what happens next',
    place: places.message,
    text: (explained, { operands: [id] }) => explanationText(id!, explained),
  })
  addOperation(message, 'cancel <id>', 'messages_cancel', {
    about: 'cancel deliveries that are scheduled or queued',
    place: places.message,
    text: ({ status }, { operands: [id] }) => `${id} is ${status}`,
  })
  addOperation(message, 'resend <id>', 'messages_resend', {
    about: 'send the same content to the same recipients as a new message',
    place: places.message,
    text: ({ id, status }) => `${id} is ${status}`,
  })
  addOperation(message, 'delete-content <id>', 'messages_delete_content', {
    about: 'delete text, HTML, attachments and raw message; the message and its events remain',
    place: places.message,
    text: (_, { operands: [id] }) => `deleted content of ${id}`,
  })

  withServer(withRecords(program.command('explain')))
    .description('explain whether a message to an address would be sent now')
    .requiredOption('--to <address>', 'recipient address')
    .option('--domain <name>', 'sending domain; required if there are several')
    .option('--stream <stream>', 'stream of the message (default: transactional)')
    .action(async (options) => (await import('../message.ts')).explainAddress(options))

  addEvents(program)
}

function addEvents(program: Command): void {
  const event = program.command('event').description('list and show events; use postrider listen to see them live')
  addOperation(event, 'list', 'events_list', {
    about: 'list events, newest first',
    place: places.organization,
    placed: [ORG],
    query: {
      type: new Option('--type <type>', 'only events of this type').choices(EVENT_TYPES),
      message_id: new Option('--message <id>', 'only events of this message'),
      mode: new Option('--mode <mode>', 'only live or test events').choices(MODES),
      limit: LIMIT,
    },
    text: ({ data }, _, colors) => {
      const lines = data.map((event) => {
        const { timestamp } = event
        return `${colors.dim(timestamp.slice(0, 10))} ${formatArrival({ ...event, body: JSON.stringify(event) }, colors)}`
      })
      return lines.join('\n') || 'no events'
    },
  })
  addOperation(event, 'show <id>', 'events_get', {
    about: 'show an event and its data',
    place: places.event,
    text: eventText,
  })
}

/** The command line has no state of destinations: the process that sends keeps it in memory. */
export const askServer = (path: string) =>
  `The running server also explains connections, pauses, fail-over and warm-up: GET ${path}, with an API key`

function explanationText(id: string, { status, recipients }: Results['messages_explain']): string {
  const blocks = recipients.map((each) => [
    `\n${each.email} is ${each.status}`,
    ...each.explanation.map((line) => `  ${sanitize(line)}`),
    ...(each.bounce_class === null ? [] : [`  Reply: ${sanitize(each.smtp_response ?? 'none')} (${classText(each)})`]),
    ...each.replies.map((reply) => `  Reply from ${sanitize(reply.from)}: ${reply.inbound_message_id ?? 'sandbox'}`),
    ...(each.mx_hosts !== null && each.site === null ? [`  ${askServer(`/v1/messages/${id}/explain`)}`] : []),
  ])
  return [`${id} is ${status}`, ...blocks.flat()].join('\n')
}

/** Class and rule of a reply, so that a wrong classification can be traced. */
const classText = ({ bounce_class, rule }: { bounce_class: string | null; rule: string | null }) =>
  `classified as ${bounce_class}, rule ${rule}`

function eventText({ id, type, timestamp, data }: Results['events_get']): string {
  const values = Object.entries(data).filter(([, value]) => value !== null)
  const lines = values.map(
    ([name, value]) => `  ${name}: ${sanitize(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  return [`${id} is ${type} at ${timestamp}`, ...lines].join('\n')
}
