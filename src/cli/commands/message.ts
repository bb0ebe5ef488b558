import { type Command, Option } from 'commander'
import { EVENT_TYPES } from '../../model/event.ts'
import { MESSAGE_STATUSES } from '../../model/message.ts'
import { MODES, whole, withRecords } from '../options.ts'

/** `postrider message …`, `event …` and `explain`: where is that mail? */
export function addMessages(program: Command): void {
  const message = program.command('message').description('messages: what became of them, and why')
  const org = new Option('--org <org>', 'id or name of the organization (needed when there are several)')
  const limited = (command: Command) =>
    command.option('--limit <number>', 'how many', (text) => whole(text, 1, 100, 'number'), 25)

  limited(withRecords(message.command('list')).description('list messages, newest first').addOption(org))
    .option('--to <address>', 'only those to this address')
    .option('--from <address>', 'only those from this address')
    .option('--subject <text>', 'only those with this in the subject')
    .option('--tag <tag>', 'only those with this tag')
    .addOption(new Option('--status <status>', 'only these').choices(MESSAGE_STATUSES))
    .addOption(new Option('--mode <mode>', 'only these').choices(MODES))
    .option('--search <words>', 'words of subject and addresses')
    .action(async (options) => (await import('../message.ts')).listMessages(options))
  withRecords(message.command('show <id>'))
    .description('one message with its recipients and every attempt')
    .action(async (id, options) => (await import('../message.ts')).showMessage(id, options))
  withRecords(message.command('explain <id>'))
    .description('why each recipient is where it is, and what happens next')
    .action(async (id, options) => (await import('../message.ts')).explainMessage(id, options))
  withRecords(message.command('cancel <id>'))
    .description('cancel what is scheduled or still queued')
    .action(async (id, options) => (await import('../message.ts')).cancelMessage(id, options))
  withRecords(message.command('resend <id>'))
    .description('send the same content to the same recipients, as a new message')
    .action(async (id, options) => (await import('../message.ts')).resendMessage(id, options))

  withRecords(program.command('explain'))
    .description('what would happen to a mail to an address now, and why')
    .requiredOption('--to <address>', 'the recipient')
    .option('--domain <name>', 'the domain it would be sent from (needed when there are several)')
    .action(async (options) => (await import('../message.ts')).explainAddress(options))

  const event = program.command('event').description('what was told of messages; postrider listen shows it live')
  limited(withRecords(event.command('list')).description('list events, newest first').addOption(org))
    .addOption(new Option('--type <type>', 'only these').choices(EVENT_TYPES))
    .option('--message <id>', 'only those of this message')
    .addOption(new Option('--mode <mode>', 'only these').choices(MODES))
    .action(async (options) => (await import('../message.ts')).listEvents(options))
}
