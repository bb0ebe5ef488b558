import { type Command, Option } from 'commander'
import { EVENT_TYPES } from '../../model/event.ts'
import { MESSAGE_STATUSES } from '../../model/message.ts'
import { MODES, whole, withRecords } from '../options.ts'

/** `postrider message …`, `event …` and `explain`. */
export function addMessages(program: Command): void {
  const message = program
    .command('message')
    .description('list, inspect, cancel and resend messages, and delete their content')
  const org = new Option('--org <org>', 'organization id or name; required if there are several')
  const limited = (command: Command) =>
    command.option('--limit <number>', 'number of entries', (text) => whole(text, 1, 100, 'number'), 25)

  limited(withRecords(message.command('list')).description('list messages, newest first').addOption(org))
    .option('--to <address>', 'only messages to this address')
    .option('--from <address>', 'only messages from this address')
    .option('--subject <text>', 'only messages whose subject contains this text')
    .option('--tag <tag>', 'only messages with this tag')
    .addOption(new Option('--status <status>', 'only messages with this status').choices(MESSAGE_STATUSES))
    .addOption(new Option('--mode <mode>', 'only live or test messages').choices(MODES))
    .option('--search <words>', 'words in subject and addresses')
    .action(async (options) => (await import('../message.ts')).listMessages(options))
  withRecords(message.command('show <id>'))
    .description('show a message, its recipients and every delivery attempt')
    .action(async (id, options) => (await import('../message.ts')).showMessage(id, options))
  withRecords(message.command('explain <id>'))
    .description('explain the status of each recipient and what happens next')
    .action(async (id, options) => (await import('../message.ts')).explainMessage(id, options))
  withRecords(message.command('cancel <id>'))
    .description('cancel deliveries that are scheduled or queued')
    .action(async (id, options) => (await import('../message.ts')).cancelMessage(id, options))
  withRecords(message.command('resend <id>'))
    .description('send the same content to the same recipients as a new message')
    .action(async (id, options) => (await import('../message.ts')).resendMessage(id, options))
  withRecords(message.command('delete-content <id>'))
    .description('delete text, HTML, attachments and raw message; the message and its events remain')
    .action(async (id, options) => (await import('../message.ts')).deleteMessageContent(id, options))

  withRecords(program.command('explain'))
    .description('explain whether a message to an address would be sent now')
    .requiredOption('--to <address>', 'recipient address')
    .option('--domain <name>', 'sending domain; required if there are several')
    .option('--stream <stream>', 'stream of the message (default: transactional)')
    .action(async (options) => (await import('../message.ts')).explainAddress(options))

  const event = program.command('event').description('list and show events; use postrider listen to see them live')
  limited(withRecords(event.command('list')).description('list events, newest first').addOption(org))
    .addOption(new Option('--type <type>', 'only events of this type').choices(EVENT_TYPES))
    .option('--message <id>', 'only events of this message')
    .addOption(new Option('--mode <mode>', 'only live or test events').choices(MODES))
    .action(async (options) => (await import('../message.ts')).listEvents(options))
  withRecords(event.command('show <id>'))
    .description('show an event and its data')
    .action(async (id, options) => (await import('../message.ts')).showEvent(id, options))
}
