import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider org …`. */
export function addOrganizations(program: Command): void {
  const org = program.command('org').description('manage organizations, which own domains, keys and messages')
  withRecords(org.command('create <name>'))
    .description('create an organization')
    .option('--plan <plan>', 'name of a plan in the config', 'free')
    .action(async (name, options) => (await import('../org.ts')).createOrganization(name, options))
  withRecords(org.command('list'))
    .description('list organizations')
    .action(async (options) => (await import('../org.ts')).listOrganizations(options))
  withRecords(org.command('set-plan <org> <plan>'))
    .description('change the plan of an organization (id or name)')
    .action(async (name, plan, options) => (await import('../org.ts')).setPlan(name, plan, options))
}
