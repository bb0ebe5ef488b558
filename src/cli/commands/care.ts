import type { Command } from 'commander'
import { whole, withRecords } from '../options.ts'

/** What is looked after now and then: who did what, and the key of the secrets. */
export function addCare(program: Command): void {
  withRecords(program.command('audit'))
    .description('who managed what: keys, domains, webhooks, templates, routes, suppressions, plans')
    .option('--org <org>', 'only what concerns this organization')
    .option('--limit <number>', 'how many entries, the newest', (text) => whole(text, 1, 10_000, 'number'), 50)
    .action(async (options) => (await import('../audit.ts')).showAuditLog(options))

  const seal = program.command('seal').description('the key that secrets are sealed with on the disk')
  withRecords(seal.command('rotate'))
    .description('seal everything with a new key; the server must be stopped')
    .action(async (options) => (await import('../seal.ts')).rotateSeal(options))
}
