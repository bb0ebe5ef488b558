import { type Command, InvalidArgumentError, Option } from 'commander'
import { ROUTE_AUTHENTICATIONS } from '../../model/inbound-route.ts'
import { gather, withHeaders, withOrganization } from '../options.ts'

/** `postrider route …`. */
export function addRoutes(program: Command): void {
  const parent = program.command('route').description('manage the routes of inbound mail')
  const add = (words: string) => withOrganization(parent.command(words))
  const values = (command: Command) =>
    withHeaders(command)
      .option('--address <address>', 'mail to this address')
      .option('--pattern <pattern>', 'mail to addresses such as support-*@example.com')
      .option('--domain <name>', 'mail to all addresses of this domain')
      .option('--catch-all', 'mail that no other route matches')
      .option('--webhook <url>', 'post the mail to this URL')
      .option('--include-attachments', 'with --webhook: post the content of attachments too')
      .option('--forward-to <address>', 'forward the mail to this address; repeatable', gather)
      .option('--store', 'only store the mail')
      .addOption(
        new Option('--authentication <rule>', 'DMARC results to reject mail for').choices(ROUTE_AUTHENTICATIONS),
      )
      .option('--priority <number>', 'the highest of several matching routes wins, from -1000 to 1000', priority)

  add('list')
    .description('list inbound routes, newest first')
    .action(async (options) => (await import('../route.ts')).listRoutes(options))
  add('show <id>')
    .description('show an inbound route')
    .action(async (id, options) => (await import('../route.ts')).showRoute(id, options))
  values(add('create').requiredOption('--name <name>', 'name in lists'))
    .description('create an inbound route')
    .option('--disable', 'create it disabled')
    .action(async (options) => (await import('../route.ts')).createRoute(options))
  values(add('update <id>').option('--name <name>', 'name in lists'))
    .description('change an inbound route')
    .addOption(new Option('--enable', 'route mail with it again').conflicts('disable'))
    .option('--disable', 'route no mail with it')
    .option('--no-headers', 'with --webhook: remove its headers')
    .action(async (id, options) => (await import('../route.ts')).updateRoute(id, options))
  add('test <id> <address>')
    .description('show which route would take a mail to this address, and why; nothing is sent')
    .action(async (id, address, options) => (await import('../route.ts')).testRoute(id, address, options))
  add('delete <id>')
    .description('delete an inbound route; received messages remain')
    .action(async (id, options) => (await import('../route.ts')).deleteRoute(id, options))
}

function priority(text: string): number {
  const value = /^-?\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (Math.abs(value) <= 1000) return value
  throw new InvalidArgumentError('Expected a priority from -1000 to 1000.')
}
